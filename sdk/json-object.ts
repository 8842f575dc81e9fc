import type { Json } from './ports/document-store.ts'

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: Json | undefined): value is { readonly [key: string]: Json }
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>>
export function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
