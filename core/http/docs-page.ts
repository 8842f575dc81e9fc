import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Bytes, streamed } from 'pounce/sdk'

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pounce API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

const script = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#api', deepLinking: true, docExpansion: 'none', tagsSorter: 'alpha' })
`

const types = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])

const made = (text: string, contentType: string): Bytes => ({
  open: () => streamed([Buffer.from(text)]),
  contentType,
  isTrusted: true,
})

/** The page to read and try the API. */
export const docsPage = (): Bytes => made(page, 'text/html; charset=utf-8')

/** A file of the page; undefined for any other name. */
export const docsFile = async (name: string): Promise<Bytes | undefined> => {
  if (name === 'start.js') return made(script, 'text/javascript; charset=utf-8')
  const contentType = types.get(name)
  if (contentType === undefined) return undefined
  const path = join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), name)
  const { size, mtime } = await stat(path)
  return { open: range => createReadStream(path, range), sizeBytes: size, lastModified: mtime, contentType, isTrusted: true }
}
