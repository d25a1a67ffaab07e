import { connect } from 'node:net';

/**
 * A stop is confirmed or given up within 0.9 s. The person at the keyboard gets an answer within 2 s, including the
 * time that this program needs to start.
 */
const ANSWER_MS = 1300;

/**
 * Resolves with the daemon's answer at its socket, as it came. Rejects where there is no socket or no answer in time.
 */
export function askBreakGlass(path: string, asked: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path, () => socket.write(`${asked}\n`));
    const late = setTimeout(() => socket.destroy(new Error('no answer')), ANSWER_MS);
    socket.setEncoding('utf8');
    socket.on('data', part => {
      text += String(part);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(late);
      try {
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error);
      }
    });
  });
}
