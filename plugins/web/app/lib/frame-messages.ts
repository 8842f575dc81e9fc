import type { ViewedThing } from '../viewers/host.ts'

/** What a frame is started with. */
export interface FrameStart {
  readonly module: string
  readonly styles: readonly string[]
  readonly thing: ViewedThing
  readonly language: string
  readonly theme: string | undefined
  readonly texts: Readonly<Record<string, string>>
  readonly state: string | undefined
}

/** From the page to a frame. */
export type ToFrame =
  | { readonly is: 'bytes'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly is: 'refused'; readonly id: number; readonly message: string }
  | { readonly is: 'ping' }

/** From a frame to the page, which does not trust it. */
export type FromFrame =
  | { readonly is: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly is: 'toast'; readonly text: string }
  | { readonly is: 'navigate'; readonly path: string }
  | { readonly is: 'state'; readonly value: string | undefined }
  | { readonly is: 'mounted' }
  /** Without a message for the user where the part itself is faulty. */
  | { readonly is: 'failed'; readonly message?: string | undefined }
  /** The part has nothing to show. */
  | { readonly is: 'nothing' }
  | { readonly is: 'size'; readonly height: number }
  | { readonly is: 'pong' }
