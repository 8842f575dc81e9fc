import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** A package of the lock file, as far as it is looked at here. */
export interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A lock file. */
export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

const platformOf = (name: string): { readonly os?: string[]; readonly cpu?: string[]; readonly libc?: string[] } => {
  const found = /(android|darwin|freebsd|linux|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(-musl|-gnu|)/.exec(name)
  if (!found) return {}
  const [, os = '', cpu = '', libc = ''] = found
  return { cpu: [cpu], os: [os], ...(libc === '' ? {} : { libc: [libc === '-musl' ? 'musl' : 'glibc'] }) }
}

/** In npm's order: the version, then by name. */
const sorted = ({ version, ...rest }: Locked): Locked => ({
  ...(version === undefined ? {} : { version }),
  ...Object.fromEntries(Object.entries(rest).sort(([one], [other]) => (one < other ? -1 : 1))),
})

/**
 * Optional packages that others ask for and the lock file does not name. npm leaves out what the registry of the moment
 * does not have, such as builds for other systems, and then `npm ci` refuses the whole file.
 */
export const missingOptional = ({ packages }: Lock): Readonly<Record<string, Locked>> =>
  Object.fromEntries(
    Object.values(packages).flatMap(({ optionalDependencies = {}, dev }) =>
      Object.entries(optionalDependencies)
        .map(([name, version]) => [`node_modules/${name}`, name, version] as const)
        .filter(([path]) => packages[path] === undefined)
        .map(([path, name, version]) => [path, sorted({ version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) })] as const),
    ),
  )

if (import.meta.main) {
  const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
  const lock = JSON.parse(await readFile(file, 'utf8')) as Lock
  const packages = Object.fromEntries(
    Object.entries({ ...lock.packages, ...missingOptional(lock) }).sort(([one], [other]) => one.localeCompare(other, 'en')),
  )
  await writeFile(file, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
}
