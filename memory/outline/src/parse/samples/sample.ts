import { readFile } from 'fs';
export * from './other';

/** Options of a reader. */
export interface Options {
  path: string;
  open(flags: number): void;
}

export type Id = string | number;

export enum Mode { Read, Write }

/**
 * Reads things.
 * @param path where
 */
export abstract class Reader<T> extends Base {
  private count = 0;
  handler = (event: Event): void => { this.count++; };
  constructor(private options: Options) { super(); }
  async read(path: string): Promise<T> { return load(path); }
  abstract close(): void;
}

export const parse = (text: string): Id => text.length;
export function outer(a: number, b?: string): void {
  function inner() {}
}
namespace Deep { export function found() {} }
declare module 'x' { function y(): void; }
const LIMIT = 10;
