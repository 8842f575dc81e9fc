/** Character maps, fonts and decoders that pdf.js requests by name, from this server. */
export const urls = import.meta.glob<string>(
  [
    '../../../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
    '../../../../../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}',
    '../../../../../node_modules/pdfjs-dist/wasm/{jbig2,openjpeg}.wasm',
  ],
  { query: '?url', import: 'default', eager: true },
)
