import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * The software bill of materials (CycloneDX JSON, https://cyclonedx.org), read from the lock file alone: every package with its version, licence
 * and checksum, including those for other operating systems. Development-only packages have the property `cdx:npm:package:development`, because
 * npm 11.19 with `--omit=dev` also omits packages that both need. Throws when npm fails.
 */
export const billOfMaterials = (): string => {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const { status, stdout, stderr, error } = spawnSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr || error?.message}`, { cause: error })
  return stdout
}

if (import.meta.main) {
  const file = 'sbom.cdx.json'
  await writeFile(new URL(`../${file}`, import.meta.url), billOfMaterials())
  process.stdout.write(`${file} written\n`)
}
