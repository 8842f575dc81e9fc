import type { MountedPart, ViewerHost } from '../host.ts'
import { isBinary } from '../lib/encoding.ts'
import { endingOf, typeOfMember } from './member-types.ts'

/** Viewers of members, loaded on demand. */
const viewers: Readonly<Record<string, () => Promise<MountedPart>>> = {
  table: () => import('../table/index.ts'),
  parquet: () => import('../parquet/index.ts'),
  notebook: () => import('../notebook/index.ts'),
  markdown: () => import('../markdown/index.ts'),
  picture: () => import('../picture/index.ts'),
  pdf: () => import('../pdf/index.ts'),
  text: () => import('../text/index.ts'),
}
const byEnding: Readonly<Record<string, keyof typeof viewers>> = {
  csv: 'table',
  tsv: 'table',
  tab: 'table',
  parquet: 'parquet',
  ipynb: 'notebook',
  md: 'markdown',
  markdown: 'markdown',
  pdf: 'pdf',
  ...Object.fromEntries(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp'].map(ending => [ending, 'picture'])),
}

/** There is no viewer for the member. */
export class NoViewer extends Error {}

/** Shows the bytes of a member in the viewer for its extension; other text in the text viewer. */
export const mountMember = async (
  element: HTMLElement,
  host: ViewerHost,
  { name, bytes, signal }: { readonly name: string; readonly bytes: Uint8Array; readonly signal: AbortSignal },
): Promise<() => void> => {
  const viewer = byEnding[endingOf(name)] ?? (isBinary(bytes.subarray(0, 4096)) ? undefined : 'text')
  if (viewer === undefined) throw new NoViewer()
  const contentType = typeOfMember(name)
  const url = URL.createObjectURL(new Blob([bytes as BlobPart], { type: contentType }))
  let state: string | undefined
  const memberHost: ViewerHost = {
    ...host,
    thing: { ...host.thing, name, contentType, sizeBytes: bytes.length },
    url,
    read: async (start, end) => bytes.slice(start, end),
    state: {
      get: () => state,
      set: value => {
        state = value
      },
    },
    signal,
  }
  try {
    const part = await viewers[viewer]?.()
    const remove = await part?.mount(element, memberHost)
    return () => {
      remove?.()
      URL.revokeObjectURL(url)
    }
  } catch (error) {
    URL.revokeObjectURL(url)
    throw error
  }
}
