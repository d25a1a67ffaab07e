type Listener = (event: Event) => void;
export type Properties = Readonly<Record<string, string | number | boolean | Listener | undefined>>;
export type Child = Node | string | undefined;

/** `on…` are listeners; true is an attribute without a value; false and undefined are none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value);
    else setAttribute(made, name, value);
  }
  for (const child of children) if (child !== undefined) made.append(child);
  return made;
}

/** Writes only what differs: screen readers hear, and browsers lay out, every writing. */
export function setAttribute(of: Element, name: string, value: string | number | boolean | undefined): void {
  const text = value === true ? '' : value === false || value === undefined ? null : String(value);
  if (of.getAttribute(name) === text) return;
  if (text === null) of.removeAttribute(name);
  else of.setAttribute(name, text);
}

export function setText(of: Element, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** A file for the person at the page. */
export function offerFile(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
