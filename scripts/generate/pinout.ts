import { robotNumbers } from '../../sim/pico/pico-board.js';
import { crc8 } from '../../src/protocol/codec.js';

/** The wires of firmware/pico/robot.h, and what each is for. */
const WIRES: readonly (readonly [pin: string, about: string, to: string])[] = [
  ['SDA_PIN', 'bus, SDA', 'Raspberry Pi, header pin 3'],
  ['SCL_PIN', 'bus, SCL', 'Raspberry Pi, header pin 5'],
  ['MOTOR_A_FORWARD_PIN', 'motor A, forward', 'forward input of bridge A'],
  ['MOTOR_A_REVERSE_PIN', 'motor A, reverse', 'reverse input of bridge A'],
  ['MOTOR_A_ENABLE_PIN', 'motor A, enable', 'enable input of bridge A, and 10 kΩ from there to ground'],
  ['MOTOR_B_FORWARD_PIN', 'motor B, forward', 'forward input of bridge B'],
  ['MOTOR_B_REVERSE_PIN', 'motor B, reverse', 'reverse input of bridge B'],
  ['MOTOR_B_ENABLE_PIN', 'motor B, enable', 'enable input of bridge B, and 10 kΩ from there to ground'],
  ['ENCODER_A_PIN', 'encoder A, channel A', 'encoder of motor A'],
  ['ENCODER_A_PIN+1', 'encoder A, channel B', 'encoder of motor A'],
  ['ENCODER_B_PIN', 'encoder B, channel A', 'encoder of motor B'],
  ['ENCODER_B_PIN+1', 'encoder B, channel B', 'encoder of motor B'],
  ['CAMERA_PIN', 'camera, receive', 'TX of the camera; only on the gimbal'],
  ['SUPPLY_PIN', 'supply', 'motor supply through a divider: 100 kΩ to the supply, 11 kΩ to ground'],
  ['CURRENT_A_PIN', 'current A', 'current output of bridge A'],
  ['CURRENT_B_PIN', 'current B', 'current output of bridge B'],
];

/** The pins of the Pico's header from 1 to 40. A number is a GP pin. */
const HEADER: readonly (number | string)[] = [
  ...[0, 1, 'GND', 2, 3, 4, 5, 'GND', 6, 7, 8, 9, 'GND', 10, 11, 12, 13, 'GND', 14, 15],
  ...[16, 17, 'GND', 18, 19, 20, 21, 'GND', 22, 'RUN', 26, 27, 'GND', 28],
  ...['ADC_VREF', '3V3', '3V3_EN', 'GND', 'VSYS', 'VBUS'],
];
const SIDE = HEADER.length / 2;

const ROW = 22;
const TOP = 46;
const WIDTH = 720;
const LEFT = 250;
const RIGHT = WIDTH - LEFT;

/** The wires in the order of the header. A pin of -1 has none. */
function wires(): readonly { headerPin: number; gp: number; about: string; to: string }[] {
  const number = robotNumbers();
  return WIRES.map(([name, about, to]) => {
    const [pin = '', next] = name.split('+');
    const gp = number(pin) + Number(next ?? 0);
    return { headerPin: HEADER.indexOf(gp) + 1, gp, about, to };
  }).filter(({ gp }) => gp >= 0);
}

/** The wiring list of docs/firmware.md. */
export function wiringTable(): string {
  const rows = wires().map(({ headerPin, gp, about, to }) => `| ${about} | GP${gp} | ${headerPin} | ${to} |`);
  return ['| signal | pin | header pin | to |', '|---|---|---|---|', ...rows].join('\n');
}

/** A frame of the camera, for docs/firmware.md. */
export function cameraExample(): string {
  const data = Buffer.from([0xa5, 1, 0, 0, 0, 0, 7]);
  data.writeInt16LE(1200, 2);
  data.writeInt16LE(-345, 4);
  const [begin = 0, target = 0, ...rest] = data;
  const frame = [...data, crc8(begin, target, Uint8Array.from(rest))];
  const bytes = frame.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
  return `Example: the target is 0.12 rad to the left and 0.0345 rad below, and the count is 7: \`${bytes}\``;
}

/** The picture of the Pico's header, as SVG on a white background. */
export function pinout(): string {
  const used = new Map(wires().map(({ headerPin, about }) => [headerPin, about]));
  const others = new Map([
    [HEADER.indexOf('VSYS') + 1, '5 V in'],
    [HEADER.indexOf('GND') + 1, 'ground'],
  ]);
  const height = TOP + SIDE * ROW + 20;
  const pins = HEADER.map((pin, index) => {
    const isLeft = index < SIDE;
    const y = TOP + ROW * (isLeft ? index : 2 * SIDE - 1 - index) + ROW / 2;
    const about = used.get(index + 1) ?? others.get(index + 1);
    const name = typeof pin === 'number' ? `GP${pin}` : pin;
    const [edge, inside] = isLeft ? [LEFT, LEFT + 18] : [RIGHT, RIGHT - 18];
    const [outside, anchor, opposite] = isLeft ? [LEFT - 40, 'end', 'start'] : [RIGHT + 40, 'start', 'end'];
    return [
      `<circle cx="${edge}" cy="${y}" r="7" fill="${about ? '#d0202a' : '#fff'}" stroke="#555"/>`,
      `<text x="${inside}" y="${y + 4}" text-anchor="${opposite}">${index + 1} ${name}</text>`,
      ...(about ? [`<text x="${outside}" y="${y + 4}" text-anchor="${anchor}">${about}</text>`] : []),
      ...(about ? [`<path d="M${edge} ${y}H${isLeft ? outside + 6 : outside - 6}" stroke="#555"/>`] : []),
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">
<title>The Raspberry Pi Pico with the pins of firmware/pico/robot.h</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<rect x="${LEFT}" y="${TOP - 14}" width="${RIGHT - LEFT}" height="${SIDE * ROW + 28}" rx="8" fill="#e8f0e8" stroke="#555"/>
<rect x="${WIDTH / 2 - 26}" y="${TOP - 30}" width="52" height="26" fill="#ccc" stroke="#555"/>
<text x="${WIDTH / 2}" y="${TOP - 13}" text-anchor="middle">USB</text>
${pins.join('\n')}
</svg>
`;
}
