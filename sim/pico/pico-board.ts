import { readFileSync } from 'node:fs';
import type { Unit } from '../../src/core/units.js';
import { crc8 } from '../../src/protocol/codec.js';
import { FAULTS } from '../../src/protocol/registers.js';
import type { CorePort, MotorIndex } from '../core/core.js';
import type { Pico } from './pico.js';
import { PicoEncoder } from './pico-encoder.js';

const PWM_FUNCTION = 4;
const ENABLED = 1;
/** Registers of a PWM slice. */
const SLICE = { bytes: 0x14, csr: 0x00, cc: 0x0c, top: 0x10 };
const FIRST_ADC_PIN = 26;
const ADC_FULL_SCALE = { counts: 4096, mv: 3300 };
const FRAME_BEGINS = 0xa5;
const PICTURES_HZ = 60;
const PERIODS_HZ = 1000;
/** A picture that begins in such a period is damaged on its way. */
const DAMAGES_EVERY = 7;
const BYTES_A_PERIOD = 5;
const COUNTS_PER_RAD = 10_000;
const NO_PICTURE = { visible: false, yawRad: 0, pitchRad: 0 };
/** A camera that is silent for this long is lost. */
const CAMERA_LOST_PERIODS = 200;

/** The numbers that `robot.h` defines. */
export function robotNumbers(file = 'firmware/pico/robot.h'): (name: string) => number {
  const lines = readFileSync(file, 'utf8').matchAll(/^#define (\w+) (-?[\d.]+)f?$/gm);
  const numbers = new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
  return name => {
    const value = numbers.get(name);
    if (value === undefined) throw new RangeError(`${file} does not define ${name}`);
    return value;
  };
}

/** What is wired to the pins of one Pico: bridges, encoders, camera, supply and currents. */
export class PicoBoard {
  readonly #pico: Pico;
  readonly #number: ReturnType<typeof robotNumbers>;
  readonly #mechanics: CorePort;
  readonly #hasCamera: boolean;
  #periods = 0;
  /** The rest of the camera's frame, and the picture that the image gets from it. Damaged frames have no picture. */
  #frame: number[] = [];
  #arriving: ReturnType<CorePort['picture']> | undefined;
  #picture: ReturnType<CorePort['picture']> = NO_PICTURE;
  #periodsWithoutPicture = 0;
  /** Values of the sensors that do not come from the mechanics. Tests change them. */
  supplyV: number;
  currentA: readonly [number, number] = [0, 0];
  hasPictures = true;
  encoderOffset: readonly [number, number] = [0, 0];
  readonly encoders: readonly [PicoEncoder, PicoEncoder];

  /** `mechanics` has perfect sensors, and motors that get the voltage of the bridges. */
  constructor(pico: Pico, { hasCamera }: Unit, mechanics: CorePort) {
    this.#pico = pico;
    this.#number = robotNumbers(pico.image.robot);
    this.supplyV = this.#number('SUPPLY_V');
    this.encoders = [
      new PicoEncoder(() => mechanics.encoder(0)),
      new PicoEncoder(() => mechanics.encoder(1)),
    ];
    this.#mechanics = mechanics;
    this.#hasCamera = hasCamera;
  }

  /** Connects the pins of a processor that starts. */
  connect(): void {
    const { gpio, pio } = this.#pico.chip.rp2040;
    for (const pin of ['SDA_PIN', 'SCL_PIN']) gpio[this.#number(pin)]?.setInputValue(true);
    for (const motor of [0, 1] as const) {
      // Reads of the FIFO give the current count. test/firmware/image-encoder.test.ts runs the state machines' program.
      for (const [block, read] of [() => this.#counts(motor), () => this.encoders[motor].changes].entries()) {
        const machine = pio[block]?.machines[motor];
        if (machine === undefined) throw new TypeError('no state machine');
        machine.rxFIFO.push(0);
        machine.readFIFO = () => read() >>> 0;
      }
    }
    // The frame that the camera is sending is lost.
    this.#frame = [];
    this.#arriving = undefined;
    this.#picture = NO_PICTURE;
    this.#periodsWithoutPicture = 0;
    this.#sense();
  }

  /** The port of the core, with the values that the image's drivers read. */
  get port(): CorePort {
    return {
      ...this.#mechanics,
      encoder: motor => this.#counts(motor),
      heading: () => this.#heading(),
      picture: () => this.#picture,
      drive: () => undefined,
      torque: () => undefined,
      faults: () => this.#faults(),
      autoMoves: () => this.#number('AUTO_MOVES') === 1,
    };
  }

  /** Whether the bridges give torque. */
  get isEnabled(): boolean {
    const { gpio } = this.#pico.chip.rp2040;
    const pins = ['MOTOR_A_ENABLE_PIN', 'MOTOR_B_ENABLE_PIN'].map(name => gpio[this.#number(name)]);
    return pins.every(pin => pin?.outputEnable === true && pin.outputValue);
  }

  /** Call this between two loop periods. The motors get their volts for the next millisecond, and the sensors their values. */
  step(): void {
    this.#mechanics.drive(0, this.#volts('MOTOR_A_FORWARD_PIN'));
    this.#mechanics.drive(1, this.#volts('MOTOR_B_FORWARD_PIN'));
    this.#mechanics.torque(this.isEnabled);
    if (this.#hasCamera) this.#send();
    this.#sense();
  }

  #volts(forwardPin: string): number {
    const { pwm, rp2040 } = this.#pico.chip;
    const pin = this.#number(forwardPin);
    const slice = SLICE.bytes * ((pin >> 1) % 8);
    const runs = pwm.readUint32(slice + SLICE.csr) & ENABLED;
    if (!runs || rp2040.gpio[pin]?.functionSelect !== PWM_FUNCTION) return 0;
    const steps = pwm.readUint32(slice + SLICE.cc);
    const top = pwm.readUint32(slice + SLICE.top) + 1;
    return (this.supplyV * ((steps & 0xffff) - (steps >>> 16))) / top;
  }

  #counts(motor: MotorIndex): number {
    return this.encoders[motor].counts + this.encoderOffset[motor];
  }

  /** The heading as firmware/pico/main.c computes it, with the same rounding to float32 at each step. */
  #heading(): number {
    const radiusM = Math.fround(this.#number('WHEEL_RADIUS_M'));
    const turn = Math.fround(Math.fround(Math.fround(2 * Math.fround(Math.PI)) * radiusM) * 1e7);
    const counts =
      this.#number('WHEEL_ENCODER_COUNTS') * this.#number('WHEEL_GEAR') * this.#number('TRACK_MM');
    const factor = Math.trunc(Math.fround(turn / counts) * 2 ** 24);
    return Math.floor(((this.#counts(1) - this.#counts(0)) * factor) / 2 ** 24);
  }

  #sense(): void {
    const { adc } = this.#pico.chip.rp2040;
    const show = (name: string, mv: number) => {
      const counts = Math.round((mv * ADC_FULL_SCALE.counts) / ADC_FULL_SCALE.mv);
      adc.channelValues[this.#number(name) - FIRST_ADC_PIN] = Math.min(counts, ADC_FULL_SCALE.counts - 1);
    };
    const currentMv = (a: number) => this.#number('CURRENT_ZERO_MV') + a * this.#number('CURRENT_MV_PER_A');
    show('SUPPLY_PIN', (this.supplyV * 1000 * ADC_FULL_SCALE.mv) / this.#number('SUPPLY_FULL_SCALE_MV'));
    show('CURRENT_A_PIN', currentMv(this.currentA[0]));
    show('CURRENT_B_PIN', currentMv(this.currentA[1]));
  }

  /** The faults that the core gets. Only the camera can have one here. */
  #faults(): number {
    if (!this.#hasCamera) return 0;
    this.#periodsWithoutPicture += 1;
    const isLost = this.#periodsWithoutPicture >= CAMERA_LOST_PERIODS;
    if (isLost) this.#picture = { ...this.#picture, visible: false };
    return isLost ? 1 << FAULTS.indexOf('camera_lost') : 0;
  }

  /** The camera sends its pictures, a few bytes in each millisecond. */
  #send(): void {
    this.#periods += 1;
    if ((this.#periods * PICTURES_HZ) % PERIODS_HZ < PICTURES_HZ && this.hasPictures) this.#begin();
    for (const byte of this.#frame.splice(0, BYTES_A_PERIOD)) this.#pico.chip.rp2040.uart[0]?.feedByte(byte);
    if (this.#frame.length > 0 || this.#arriving === undefined) return;
    this.#picture = this.#arriving;
    this.#arriving = undefined;
    this.#periodsWithoutPicture = 0;
  }

  /** Begins the frame of a picture. */
  #begin(): void {
    const { visible, yawRad, pitchRad } = this.#mechanics.picture();
    const frame = Buffer.from([FRAME_BEGINS, visible ? 1 : 0, 0, 0, 0, 0, this.#periods & 0xff, 0]);
    frame.writeInt16LE(Math.round(yawRad * COUNTS_PER_RAD), 2);
    frame.writeInt16LE(Math.round(pitchRad * COUNTS_PER_RAD), 4);
    frame[7] = crc8(frame.readUInt8(0), frame.readUInt8(1), frame.subarray(2, 7));
    const rad = (at: number) => Math.fround(frame.readInt16LE(at) * Math.fround(1e-4));
    this.#arriving = visible ? { visible, yawRad: rad(2), pitchRad: rad(4) } : { ...this.#picture, visible };
    if (this.#periods % DAMAGES_EVERY === 0) {
      frame[1] = visible ? 0 : 1;
      this.#arriving = undefined;
    }
    this.#frame = [...frame];
  }
}
