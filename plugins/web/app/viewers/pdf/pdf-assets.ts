/** Loads the files that pdf.js requests by name. The list of URLs is loaded on the first request. */
export class PdfAssets {
  async fetch({ filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    const { urls } = await import('./asset-urls.ts')
    const url = Object.entries(urls).find(([path]) => path.endsWith(`/${filename}`))?.[1]
    if (url === undefined) throw new Error(`Not part of pdf.js: ${filename}`)
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${response.status} ${url}`)
    return new Uint8Array(await response.arrayBuffer())
  }
}
