/** Character maps, fonts and decoders that pdf.js asks for by their names, from this server. */
const urls = import.meta.glob<string>(
  [
    '../../../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
    '../../../../../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}',
    '../../../../../node_modules/pdfjs-dist/wasm/{jbig2,openjpeg}.wasm',
  ],
  { query: '?url', import: 'default', eager: true },
)
const byName = new Map(Object.entries(urls).map(([path, url]) => [path.slice(path.lastIndexOf('/') + 1), url]))

export class PdfAssets {
  async fetch({ filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    const url = byName.get(filename)
    if (url === undefined) throw new Error(`Not part of pdf.js: ${filename}`)
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${response.status} ${url}`)
    return new Uint8Array(await response.arrayBuffer())
  }
}
