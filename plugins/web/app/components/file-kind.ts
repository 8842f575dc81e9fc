import type { IconName } from './icon-names.ts'

/** The kinds of files that have their own icon and colour. */
export interface FileKind {
  readonly icon: IconName
  readonly kind: 'picture' | 'table' | 'text' | 'sound' | 'film' | 'archive' | 'other'
}

const tables = /csv|tab-separated|spreadsheet|excel|parquet|hdf|netcdf/
const archives = /zip|x-tar|gzip|x-7z|x-bzip|x-xz|rar/

/** The kind of a media type. */
export const fileKind = (type: string | null): FileKind => {
  const text = type ?? ''
  if (text.startsWith('image/')) return { icon: 'file-image', kind: 'picture' }
  if (text.startsWith('audio/')) return { icon: 'file-audio', kind: 'sound' }
  if (text.startsWith('video/')) return { icon: 'file-play', kind: 'film' }
  if (tables.test(text)) return { icon: 'file-spreadsheet', kind: 'table' }
  if (archives.test(text)) return { icon: 'file-archive', kind: 'archive' }
  if (text.startsWith('text/') || /json|xml|pdf|yaml/.test(text)) return { icon: 'file-text', kind: 'text' }
  return { icon: 'file', kind: 'other' }
}
