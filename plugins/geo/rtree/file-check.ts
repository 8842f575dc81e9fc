import { open } from 'node:fs/promises'

/** The file format version that this program writes. */
export const fileFormat = 1
/** Offset of the version in the first page, and the magic bytes of a file (SQLite, Database File Format). */
const formatOffset = 60
const magic = 'SQLite format 3\0'

/** Throws for a file written by a newer program, or one that is not a SQLite file. */
export const checkFile = async (file: string): Promise<void> => {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (!handle) return
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(100), 0, 100, 0).finally(() => handle.close())
  if (bytesRead === 0) return
  if (bytesRead < 100 || buffer.toString('latin1', 0, magic.length) !== magic) throw new Error(`${file} is not a SQLite database`)
  const format = buffer.readUInt32BE(formatOffset)
  if (format > fileFormat) throw new Error(newerFormat(file, format, fileFormat))
}

/** The message for a file that was written by a newer program. */
export const newerFormat = (file: string, format: number, known: number): string =>
  `${file} was written by a newer version of this program (format ${format}, known up to ${known})`
