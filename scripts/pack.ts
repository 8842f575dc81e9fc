import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPackages, packages } from './build-packages.ts'
import { root } from './server-bundle.ts'

/*
 * `npm pack` in the repository packs the content of `dist/packages/pounce`, so `package.json` refers to the files there while it runs:
 * `prepack` replaces it, `postpack` restores the repository's own, and so does the next `prepack` if npm was interrupted.
 */
const own = join(root, 'package.json')
const kept = join(root, 'dist/package.json.kept')

const restore = async (): Promise<void> => {
  if (existsSync(kept)) await rename(kept, own)
}

const below = (path: string): string => `./dist/packages/pounce/${path.replace(/^\.\//, '')}`

interface Packed {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

const replace = async (): Promise<void> => {
  await restore()
  await buildPackages()
  const packed = JSON.parse(await readFile(join(packages, 'pounce/package.json'), 'utf8')) as Packed
  const placed = ([name, entry]: readonly [string, string | Readonly<Record<string, string>>]) => [
    name,
    typeof entry === 'string' ? entry : Object.fromEntries(Object.entries(entry).map(([condition, path]) => [condition, below(path)])),
  ]
  const manifest = {
    ...packed,
    files: ['dist/packages/pounce'],
    bin: Object.fromEntries(Object.entries(packed.bin).map(([name, path]) => [name, below(path)])),
    exports: Object.fromEntries(Object.entries(packed.exports).map(placed)),
  }
  await writeFile(`${own}.packed`, `${JSON.stringify(manifest, undefined, 2)}\n`)
  await rename(own, kept)
  await rename(`${own}.packed`, own)
}

const [word] = process.argv.slice(2)
if (word === 'begin') await replace()
else if (word === 'end') await restore()
else await buildPackages()
