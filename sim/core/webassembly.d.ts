/** The part of WebAssembly that the simulator uses. TypeScript has these types only for browsers. */
declare namespace WebAssembly {
  type Imports = Readonly<Record<string, (a: number, b: number) => unknown>>;
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: { readonly env: Imports });
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
