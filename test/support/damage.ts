import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The path of the only file below a folder of the blob store. */
export const onlyFile = async (folder: string, below: string): Promise<string> => {
  const names = (await readdir(join(folder, 'blobs', below), { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  const [only] = names
  if (!only || names.length !== 1) throw new Error(`${names.length} files below ${below}`)
  return join(only.parentPath, only.name)
}

/** Flips one byte of the only file below a folder of the blob store; a second call restores it. */
export const damage = async (folder: string, below: string, at: number): Promise<void> => {
  const file = await open(await onlyFile(folder, below), 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  await file.write(Buffer.from([byte.readUInt8() ^ 1]), 0, 1, at)
  await file.close()
}
