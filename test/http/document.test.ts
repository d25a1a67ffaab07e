import { expect } from 'chai';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('GET /api/openapi.json', () => {
  const daemon = simulatedDaemon();

  it('does not delay other requests while the document is computed', async () => {
    const answered: string[] = [];
    const ask = async (path: string) => {
      await daemon.get(path);
      answered.push(path);
    };
    await Promise.all([ask('/api/openapi.json'), ask('/healthz')]);
    expect(answered).to.deep.equal(['/healthz', '/api/openapi.json']);
  });
});
