import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/** A request as bytes. */
function asked(path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
}

describe('a drive command that a client sends before the answer to its previous request', () => {
  const daemon = simulatedDaemon();

  /** The statuses and the texts of both answers. */
  const answersTo = async (first: string) => {
    await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
    const command = { chassis: { speed: 0.5, turn: 0 }, holdMs: 500, id: 'a' };
    const { port } = new URL(daemon.url);
    const socket = connect(Number(port), '127.0.0.1');
    let answers = '';
    socket.on('data', part => {
      answers += String(part);
    });
    socket.write(first + asked('/api/drive', command));
    while (answers.split('HTTP/1.1').length < 3) await once(socket, 'data');
    socket.destroy();
    return [...(answers.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []), answers.includes('too-late')];
  };

  it('is refused with too-late, because the time of its arrival is unknown', async () => {
    expect(await answersTo(asked('/api/laser', { action: 'off' }))).to.deep.equal(['200', '409', true]);
  });

  it('is refused with too-late if the previous request was answered before its body of 300 kB was read', async () => {
    const body = 'x'.repeat(300_000);
    const first = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(await answersTo(first)).to.deep.equal(['200', '409', true]);
  });
});
