/** 500 daily readings of four stations: integers, decimals, dates, booleans, some empty cells, non-ASCII names. */
export function stations(): string {
  const places = ['Köln', 'Übersee', '東京', 'Reykjavík']
  const rows = Array.from({ length: 500 }, (_, at) => {
    const date = new Date(Date.UTC(2025, 0, 1 + at)).toISOString().slice(0, 10)
    const celsius = (10 + 12 * Math.sin(at / 58)).toFixed(1)
    const rain = at % 37 === 0 ? '' : String((at * 7) % 31)
    return [at + 1, places[at % 4], date, celsius, rain, at % 5 !== 0, at % 50 === 0 ? '"sensor changed, see log"' : ''].join(',')
  })
  return `${['id,station,date,temperature.celsius,rain_mm,valid,note', ...rows].join('\n')}\n`
}

export const notes = `# Field notes

Soil samples were taken at **four sites** along the river.

| Site | Depth (cm) |
| ---- | ---------- |
| A    | 10         |
| B    | 25         |

1. Dry at 105 °C for 24 h.
2. Sieve to 2 mm.

See [the protocol](https://example.org/protocol) for \`pH\` and conductivity.
`

export const observations = `# Übersicht – 観測

Beobachtungen der Station 東京, Frühjahr 2026. Die Messwerte stehen in *stations.csv*.
`

export const paper = {
  title: 'Leaf area and light in a beech stand',
  author: 'Ann Ash',
  pages: [
    [
      'Leaf area and light in a beech stand',
      'Abstract. Leaf area index was measured in 24 plots of a beech stand.',
      'Light below the canopy fell with leaf area as expected from the Beer-Lambert law.',
      'The extinction coefficient was 0.52 \xb1 0.03 (n = 24).',
    ],
    [
      'Methods',
      'Hemispherical photographs were taken under an overcast sky.',
      'Litter traps of 0.25 m\xb2 were emptied every second week.',
    ],
  ],
}

export const readme = `# Test data

Made by \`scripts/make-test-data.ts\`; the same program always writes the same bytes (with the same sharp). All of it is CC0.

| File | What it is |
| --- | --- |
| \`photo.jpg\` | JPEG, 640 × 427, EXIF with camera, date (2026-03-14T09:26:53+01:00) and place (50.73° N, 7.09° E, 60 m) |
| \`picture.png\` | PNG, 300 × 200, with transparency |
| \`paper.pdf\` | PDF, 2 pages of text, title and author set |
| \`stations.csv\` | CSV, 500 rows of 7 columns: numbers, dates, booleans, empty cells, names beyond ASCII |
| \`notes.md\` | Markdown with a table and a link |
| \`Übersicht – 観測.md\` | Markdown under a name beyond ASCII |
| \`tone.wav\` | WAV, 1 s of 440 Hz, mono, 16 bit, 8 kHz |
| \`bundle.zip\` | ZIP of three files, one of them in a folder |
| \`empty.bin\` | nothing: 0 bytes |
| \`plots.json\`, \`plots.xml\` | Three plots as JSON, with a number of 20 digits, and as XML |

Written by programs of the field, and CC0 as well:

| File | What it is | Written by |
| --- | --- | --- |
| \`trees.parquet\` | 1,200 rows in 3 row groups, Zstandard: integers, a dictionary, times, numbers with missing values, booleans, structs, lists | pyarrow 26.0.1 |
| \`heights.ipynb\` | Jupyter notebook (4.5): Markdown, code, and a table, text, a picture and an error as outputs | hand |
| \`field.h5\` | HDF5: groups, attributes, arrays of one to three dimensions, compressed ones, text, compound values, links of each kind | h5py |
| \`sst.nc\` | NetCDF-3: an unlimited dimension, packed values, a missing one | netCDF4 |
| \`areas.geojson\` | GeoJSON of points, a line and an area, with markup in a value | Python |
| \`plots.zip\` | Shapefile in UTM zone 32 with two areas | pyshp |
| \`elevation.tif\` | GeoTIFF, int16, in tiles, all of the world | tifffile |
| \`sections.tif\` | TIFF of three pages: colour, uint16 and float32 | tifffile |
| \`huge.tif\` | a header that says 50,000 × 50,000 pixels | Python |
| \`pebble.glb\`, \`pebble.ply\`, \`pebble.stl\` | A pebble of 320 triangles, the first two with colours | trimesh |
| \`draco.glb\` | A sphere of 320 triangles, compressed by Draco | DracoPy |
| \`box.obj\` | A box | trimesh |
| \`outside-links.gltf\` | glTF whose vertices are on another server | Python |
| \`leaf-area.vl.json\`, \`wave.vg.json\` | Charts in Vega-Lite and Vega | Python |
| \`outside-data.vl.json\` | A chart whose data is on another server | Python |

Files named \`damaged\` are the same files cut in the middle; \`damaged.csv\` is Latin-1, with a quote that is never closed and rows of other lengths.
`

/** One second of 440 Hz: mono, 16 bit, 8 kHz. */
export function tone(): Buffer {
  const rate = 8000
  const wav = Buffer.alloc(44 + rate * 2)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(rate * 2, 40)
  for (let at = 0; at < rate; at++) wav.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * 440 * at) / rate)), 44 + at * 2)
  return wav
}
