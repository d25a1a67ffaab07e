import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useConsole } from '../parts/console.js';
import type { Seen } from './draw-top-view.js';

interface DrawingProps {
  readonly label: string;
  readonly draw: (ctx: CanvasRenderingContext2D, width: number, height: number, seen: Seen) => void;
}

/** A canvas that is drawn anew whenever telemetry came. */
export function Drawing({ label, draw }: DrawingProps) {
  const { model, palette } = useConsole();
  const ref = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    model.telemetry.frame.value;
    const colours = palette.value;
    const canvas = ref.current;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || canvas.clientWidth === 0) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const light = model.status.value?.laser.light;
    draw(ctx, width, height, {
      sample: model.telemetry.latest,
      lit: light === 'on' || light === 'fault',
      palette: colours,
    });
  });
  return <canvas ref={ref} role="img" aria-label={label} />;
}
