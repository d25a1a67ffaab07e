import { expect } from 'chai';
import { StreamRoom } from '../../src/console/daemon/stream-room.js';

/** The windows of one browser. Each receives the others' messages. */
function openWindows(count: number) {
  const windows: { room: StreamRoom; crowded: boolean; gaveWay: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    const tell = (message: unknown) => {
      for (const other of windows) if (other !== one) other.room.hear(message);
    };
    const one = {
      crowded: false,
      gaveWay: 0,
      room: new StreamRoom({
        id: String(index),
        tell,
        onCrowded: () => {
          one.crowded = true;
          one.room.closed();
        },
        onGiveWay: () => {
          one.gaveWay += 1;
        },
      }),
    };
    windows.push(one);
    one.room.opened();
  }
  return windows;
}

describe('the windows of one browser', () => {
  it('have at most four open event streams, in the windows that were opened last', () => {
    const crowded = (count: number) => openWindows(count).map(one => one.crowded);
    expect(crowded(4)).to.deep.equal([false, false, false, false]);
    expect(crowded(7)).to.deep.equal([true, true, true, false, false, false, false]);
  });

  it('are asked to close all their event streams if three windows are open and a request waits for a free connection', () => {
    const windows = openWindows(3);
    windows[0]!.room.askForWay();
    expect(windows.map(one => one.gaveWay)).to.deep.equal([1, 1, 1]);
    windows[2]!.room.askForWay();
    expect(windows.map(one => one.gaveWay)).to.deep.equal([2, 2, 2]);
  });

  it('are not asked to close their event streams if only two windows are open and a request waits for a free connection', () => {
    const windows = openWindows(2);
    for (const { room } of windows) room.askForWay();
    expect(windows.map(one => one.gaveWay)).to.deep.equal([0, 0]);
  });

  it('keep their event streams open if a message from another window has an unknown form', () => {
    const [only] = openWindows(1);
    for (const message of [null, 'hello', 3, {}, { kind: 'give way' }]) only!.room.hear(message);
    expect([only!.crowded, only!.gaveWay]).to.deep.equal([false, 0]);
  });
});
