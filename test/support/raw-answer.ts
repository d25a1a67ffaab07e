/** An unparsed answer. */
export interface Received<Body = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body;
}

export function isEventStream({ headers }: Received): boolean {
  return headers['Content-Type']?.startsWith('text/event-stream') === true;
}

/** Undefined until the answer is complete. A stream counts as complete as soon as it has sent something. */
export function parsed(
  bytes: Buffer,
  { method, ended }: { method: string; ended: boolean },
): Received | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('utf8', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    headers[name] = name in headers ? `${headers[name]}\n${value}` : value;
  }
  const status = Number(first.split(' ')[1]);
  const content = bytes.toString('utf8', end + 4);
  const isJson = /[/+]json\b/.test(headers['Content-Type'] ?? '');
  if (method === 'HEAD' || status === 204 || status === 304) return { status, headers };
  if (isEventStream({ status, headers }))
    return content === '' ? undefined : { status, headers, body: firstEvents(content) };
  const length = headers['Content-Length'];
  if (length === undefined ? !ended : bytes.length - end - 4 < Number(length)) return undefined;
  return { status, headers, body: isJson && content !== '' ? JSON.parse(content) : content };
}

/** The first event of each name. */
function firstEvents(content: string): Readonly<Record<string, unknown>> {
  const events: Record<string, unknown> = {};
  for (const block of content.split(/\r\n\r\n|\n\n/)) {
    const [, name = '', data = ''] = /event: (\w+)\ndata: (.*)/.exec(block) ?? [];
    if (name !== '' && !(name in events)) events[name] = JSON.parse(data);
  }
  return events;
}
