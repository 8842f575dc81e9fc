import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPython, pythonWith } from './python-environment.ts'

const run = promisify(execFile)

/** The validator of the Library of Congress. */
const bagit = { name: 'bagit', release: '1.9.0' }

/** Undefined when the validator is available, otherwise the reason why it is not. */
export const installBagit = (): Promise<string | undefined> => installPython(bagit)

const script = `
import json, sys, zipfile
import bagit
zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])
bag = bagit.Bag(sys.argv[2])
bag.validate()
print(json.dumps({"info": bag.info, "payload": sorted(bag.payload_entries())}))
`

/** The content of a bag as read by the validator. */
export interface ReadBag {
  readonly info: Readonly<Record<string, string>>
  /** Paths of the payload, in order. */
  readonly payload: readonly string[]
}

/** Unpacks a bag with Python and validates it with all its checksums; rejects with the message of the validator. */
export const validateBag = async (archive: Buffer): Promise<ReadBag> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bag-'))
  try {
    const [path, bag] = [join(folder, 'bag.zip'), join(folder, 'bag')]
    await writeFile(path, archive)
    const { stdout } = await run(pythonWith(bagit), ['-c', script, path, bag], { timeout: 60_000, maxBuffer: 64 << 20 })
    return JSON.parse(stdout) as ReadBag
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
