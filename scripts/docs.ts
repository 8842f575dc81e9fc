import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { configurationPage } from './docs/configuration-page.ts'
import { coveragePage } from './docs/coverage-page.ts'
import { openapiPage } from './docs/openapi-page.ts'
import { routesPage } from './docs/routes-page.ts'
import { sdkPage } from './docs/sdk-page.ts'
import { webApiPage } from './docs/web-api-page.ts'
import { apiDocument, wholeDocument } from './route-coverage.ts'

const openapi = async (): Promise<string> => openapiPage(await wholeDocument())

const pages: readonly { readonly file: string; readonly write: () => Promise<string> }[] = [
  { file: 'docs/configuration.md', write: configurationPage },
  { file: 'docs/openapi.json', write: openapi },
  { file: 'plugins/web/app/api.ts', write: async () => webApiPage(await wholeDocument()) },
  { file: 'docs/routes.md', write: routesPage },
  { file: 'docs/sdk-api.md', write: sdkPage },
  { file: 'docs/coverage.md', write: async () => coveragePage(await apiDocument()) },
]

const isCheck = process.argv.includes('--check')
for (const { file, write } of pages) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const content = await write()
  if (existsSync(path) && (await readFile(path, 'utf8')) === content) continue
  if (isCheck) {
    process.stderr.write(`${file} is out of date\n`)
    process.exitCode = 1
  } else {
    await writeFile(path, content)
    process.stdout.write(`${file} written\n`)
  }
}
