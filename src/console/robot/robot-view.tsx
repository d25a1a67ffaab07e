import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { fixed } from '../model/numbers.js';
import { isPose } from '../model/readings.js';
import { useConsole, useModel } from '../parts/parts.js';
import { drawBoresight } from './draw-boresight.js';
import { drawTopView, type Seen } from './draw-top-view.js';

/** Where the robot is, and where it aims. */
export function RobotView() {
  const { status, telemetry } = useModel();
  return (
    <section class="card view" aria-label="The robot">
      <header>
        <h2>Robot</h2>
        <Place />
      </header>
      <div class="views">
        <Drawing
          label="The robot from above"
          draw={(ctx, width, height, seen) => drawTopView(ctx, width, height, telemetry.trail, seen)}
        />
        <Drawing label="What the gimbal aims at: crosshair, target and pitch" draw={drawBoresight} />
      </div>
      <p class="hint">Trunnion {status.value?.version}</p>
    </section>
  );
}

function Place() {
  const { telemetry, fresh } = useModel();
  telemetry.frame.value;
  const pose = telemetry.latest?.chassis?.pose;
  const known = isPose(pose) && fresh.value ? pose : undefined;
  const text = known && [
    `x ${fixed(known.x, 2)} m`,
    `y ${fixed(known.y, 2)} m`,
    `${fixed((known.heading * 180) / Math.PI, 0)}°`,
  ];
  return <span class="where">{text?.join('   ') ?? 'not known'}</span>;
}

interface DrawingProps {
  readonly label: string;
  readonly draw: (ctx: CanvasRenderingContext2D, width: number, height: number, seen: Seen) => void;
}

/** A canvas that is redrawn when telemetry comes. */
function Drawing({ label, draw }: DrawingProps) {
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
    const lit = light === 'on' || light === 'fault';
    draw(ctx, width, height, { sample: model.telemetry.latest, lit, palette: colours });
  });
  return <canvas ref={ref} role="img" aria-label={label} />;
}
