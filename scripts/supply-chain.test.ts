import { readFile } from 'node:fs/promises'
import test from 'ava'
import { billOfMaterials } from './sbom.ts'

interface Locked {
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly version?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
interface Bill {
  readonly bomFormat: string
  readonly components: readonly { readonly name: string; readonly version: string; readonly hashes?: readonly { readonly alg: string }[] }[]
}

const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(new URL(`../${file}`, import.meta.url), 'utf8')) as T
const { packages } = await read<{ readonly packages: Readonly<Record<string, Locked>> }>('package-lock.json')
const locked = Object.entries(packages).filter(([path]) => path !== '')

test('the lock file contains a checksum of every package, including those for other systems', t => {
  t.true(locked.length > 400)
  t.deepEqual(
    locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path),
    [],
  )
})

test('every optional dependency of a package is in the lock file', t => {
  const named = locked.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies))
  t.true(named.length > 20)
  t.deepEqual(
    named.filter(name => packages[`node_modules/${name}`] === undefined),
    [],
  )
})

test('no production package has an install script, except one whose script is disabled', async t => {
  const { allowScripts } = await read<{ readonly allowScripts: Readonly<Record<string, boolean>> }>('package.json')
  const scripted = locked
    .filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
  t.deepEqual(
    scripted.filter(name => allowScripts[name] !== false),
    [],
  )
  t.deepEqual(
    Object.values(allowScripts).filter(isAllowed => isAllowed),
    [],
  )
})

test('the bill of materials names every package with its checksum', t => {
  const { bomFormat, components } = JSON.parse(billOfMaterials()) as Bill
  t.is(bomFormat, 'CycloneDX')
  const named = new Set(components.map(({ name, version }) => `${name}@${version}`))
  t.deepEqual(
    locked.filter(([path, { version }]) => !named.has(`${path.replace(/^.*node_modules\//, '')}@${version}`)).map(([path]) => path),
    [],
  )
  t.deepEqual(
    components.filter(({ hashes }) => !hashes?.some(({ alg }) => alg === 'SHA-512')).map(({ name }) => name),
    [],
  )
})

test('the package requires the Node that the program requires', async t => {
  const { engines } = await read<{ readonly engines: { readonly node: string } }>('package.json')
  const main = await readFile(new URL('../core/main.js', import.meta.url), 'utf8')
  t.is(engines.node, `>=${/needs Node ([\d.]+) or newer/.exec(main)?.[1]}`)
  t.deepEqual((packages[''] as { readonly engines?: unknown }).engines, engines)
})
