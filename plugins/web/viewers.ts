import { type ViewerRange, type WebText, webContribution } from 'pounce/sdk/kit'

/** A built-in viewer in `app/viewers/<name>/index.ts`, with its texts under `viewer.<name>.*` in `app/locales`. */
export interface OwnViewer extends Omit<ViewerRange, 'trust'> {
  readonly name: string
  readonly title: WebText
}

const MB = 1_000_000
/** For files read in parts, whatever their size. */
const anySize = Number.MAX_SAFE_INTEGER

/** Media types of text outside of `text/*`. */
const textTypes = ['json', 'xml', 'x-yaml', 'yaml', 'javascript', 'toml', 'x-sh', 'sql', 'ld+json', 'geo+json', 'x-ndjson']
  .map(name => `application/${name}`)
  .concat('image/svg+xml', 'model/gltf+json')

/** Extensions of text files, which often have a generic media type, and names of those without an extension. */
const textEndings =
  `authors bat bib c cc cfg changelog clj cmake conf contributing copying cpp cs css csv cxx dat diff dockerfile ebnf editorconfig el
  env erl f f90 f95 fasta fastq for gemfile geojson gff gitattributes gitignore go gpx gql graphql groovy h hpp hs html ini java
  jenkinsfile jl js json jsonl jsonld jsx kml kt less licence license lisp log lua m makefile md mjs ml mm nb ndjson nex notice nt nwk
  patch php pl pm procfile proto ps1 py r rakefile rb rdf readme rmd rs rst sas sass scala scss sed sh snakefile sps sql srt sty svg
  swift tab tcl tex toml topojson ts tsv tsx ttl txt vb vcf vhd vtt wat xml xsd xsl yaml yml`.split(/\s+/)

/** In alphabetical order. If several viewers match, the one with the highest `rank` comes first. */
export const viewers: readonly OwnViewer[] = [
  {
    name: 'archive',
    title: { en: 'Archive', de: 'Archiv' },
    mediaTypes: ['application/zip', 'application/x-zip-compressed', 'multi/files-zipped'],
    extensions: ['zip'],
    maxBytes: anySize,
    rank: 30,
  },
  {
    name: 'document',
    title: { en: 'Formatted', de: 'Formatiert' },
    mediaTypes: ['text/html'],
    extensions: [],
    maxBytes: anySize,
    asks: true,
    rank: 30,
  },
  {
    name: 'deep-zoom',
    title: { en: 'Zoom', de: 'Lupe' },
    mediaTypes: ['image/tiff', 'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'application/dzi'],
    extensions: ['tif', 'tiff', 'ome.tif', 'ome.tiff'],
    maxBytes: anySize,
    rank: 45,
  },
  {
    // Declines pictures without a location and archives without shapefiles.
    name: 'geo',
    title: { en: 'Map', de: 'Karte' },
    mediaTypes: [
      'application/geo+json',
      'application/vnd.geo+json',
      'image/tiff',
      'application/zip',
      'application/x-zip-compressed',
      'multi/files-zipped',
    ],
    extensions: ['geojson', 'tif', 'tiff', 'zip'],
    maxBytes: anySize,
    asks: true,
    rank: 65,
  },
  {
    // Read by range. The first bytes determine the format.
    name: 'hdf5',
    title: { en: 'Tree and values', de: 'Baum und Werte' },
    mediaTypes: ['application/x-hdf5', 'application/x-hdf', 'application/vnd.hdfgroup.hdf5', 'application/x-netcdf', 'application/netcdf'],
    extensions: ['h5', 'hdf5', 'hdf', 'he5', 'nc', 'nc4', 'cdf', 'nxs', 'nx5', 'nexus'],
    maxBytes: anySize,
    rank: 60,
  },
  {
    name: 'markdown',
    title: { en: 'Formatted', de: 'Formatiert' },
    mediaTypes: ['text/markdown', 'text/x-markdown'],
    extensions: ['md', 'markdown'],
    maxBytes: anySize,
    rank: 40,
  },
  {
    name: 'media',
    title: { en: 'Player', de: 'Wiedergabe' },
    mediaTypes: ['audio/*', 'video/*'],
    extensions: [],
    maxBytes: anySize,
    rank: 50,
  },
  {
    // Read as a whole, and rendered by the GPU.
    name: 'model',
    title: { en: '3D model', de: '3D-Modell' },
    mediaTypes: ['model/*'],
    extensions: ['gltf', 'glb', 'ply', 'obj', 'stl'],
    maxBytes: 100 * MB,
    rank: 60,
  },
  {
    // Read as a whole.
    name: 'notebook',
    title: { en: 'Notebook', de: 'Notebook' },
    mediaTypes: ['application/x-ipynb+json', 'application/vnd.jupyter'],
    extensions: ['ipynb'],
    maxBytes: 100 * MB,
    rank: 60,
  },
  {
    name: 'parquet',
    title: { en: 'Table', de: 'Tabelle' },
    mediaTypes: ['application/vnd.apache.parquet', 'application/x-parquet', 'application/parquet'],
    extensions: ['parquet', 'pq', 'geoparquet'],
    maxBytes: anySize,
    rank: 60,
  },
  {
    name: 'pdf',
    title: { en: 'Pages', de: 'Seiten' },
    mediaTypes: ['application/pdf'],
    extensions: ['pdf'],
    maxBytes: 2000 * MB,
    rank: 60,
  },
  {
    // Larger pictures would take seconds and too much memory.
    name: 'picture',
    title: { en: 'Picture', de: 'Bild' },
    mediaTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'],
    extensions: [],
    maxBytes: 40 * MB,
    rank: 50,
  },
  {
    name: 'table',
    title: { en: 'Table', de: 'Tabelle' },
    mediaTypes: ['text/csv', 'text/tab-separated-values', 'application/csv'],
    extensions: ['csv', 'tsv', 'tab', 'csv.gz', 'tsv.gz'],
    maxBytes: anySize,
    rank: 60,
  },
  {
    name: 'text',
    title: { en: 'Text', de: 'Text' },
    mediaTypes: ['text/*', ...textTypes],
    extensions: textEndings,
    maxBytes: anySize,
    rank: 10,
  },
  {
    // Decoded as a whole; longer recordings open in the player.
    name: 'sound',
    title: { en: 'Waveform', de: 'Wellenform' },
    mediaTypes: ['audio/*'],
    extensions: [],
    maxBytes: 20 * MB,
    rank: 55,
  },
  {
    // Accepts charts by name and type, and JSON that declares a Vega schema; declines other files.
    name: 'vega',
    title: { en: 'Chart', de: 'Diagramm' },
    mediaTypes: ['application/vnd.vega.v5+json', 'application/vnd.vegalite.v5+json', 'application/vega', 'application/json'],
    extensions: ['vg.json', 'vl.json', 'vg', 'vl'],
    maxBytes: 20 * MB,
    asks: true,
    rank: 62,
  },
]

/** The built-in viewers, contributed like those of other plugins. */
export const ownViewers = viewers.map(({ name, title, ...range }) =>
  webContribution({
    id: `web.${name}`,
    kind: 'viewer',
    title,
    module: `viewers/${name}/index.ts`,
    viewer: { ...range, trust: 'page' },
  }),
)
