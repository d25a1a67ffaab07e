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

  it('is refused with too-late, because the time of its arrival is unknown', async () => {
    await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
    const command = { chassis: { speed: 0.5, turn: 0 }, holdMs: 500, id: 'a' };
    const { port } = new URL(daemon.url);
    const socket = connect(Number(port), '127.0.0.1');
    let answers = '';
    socket.on('data', part => {
      answers += String(part);
    });
    socket.write(asked('/api/laser', { action: 'off' }) + asked('/api/drive', command));
    while (answers.split('HTTP/1.1').length < 3) await once(socket, 'data');
    socket.destroy();
    expect(answers.match(/(?<=HTTP\/1\.1 )\d+/g)).to.deep.equal(['200', '409']);
    expect(answers).to.include('too-late');
  });
});
