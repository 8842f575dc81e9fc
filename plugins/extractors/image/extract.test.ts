import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, gzipSync } from 'node:zlib'
import test from 'ava'
import sharp from 'sharp'
import { runExtractor, temporaryFile, temporaryFolder, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'
import { loadSharp } from './source.ts'

const jpeg = { contentType: 'image/jpeg' }
const png = { contentType: 'image/png' }
const svg = { contentType: 'image/svg+xml' }

test('a photo yields its size, camera, time and location', async t => {
  const { metadata } = await runExtractor(t, extract, testFile('photo.jpg'), jpeg)
  t.like(metadata, {
    format: 'jpeg',
    width: 640,
    height: 427,
    colourSpace: 'srgb',
    channels: 3,
    bitsPerChannel: 8,
    hasAlpha: false,
    takenAt: '2026-03-14T09:26:53+01:00',
    location: { latitude: 50.73, longitude: 7.09, altitude: 60 },
    exif: {
      Make: 'Pounce',
      Model: 'Test Camera 1',
      ISO: 200,
      FNumber: 2.8,
      ExposureTime: 0.004,
      DateTimeOriginal: '2026-03-14T09:26:53+01:00',
    },
  })
  t.deepEqual(JSON.parse(JSON.stringify(metadata)), metadata)
})

test('a photo gets a preview that is not enlarged and a 225-pixel thumbnail, both without its location', async t => {
  const run = await runExtractor(t, extract, testFile('photo.jpg'), jpeg)
  const [preview, thumbnail] = [await sharp(await run.preview(0)).metadata(), await sharp(await run.thumbnailBytes()).metadata()]
  t.like(preview, { format: 'jpeg', width: 640, height: 427, exif: undefined })
  t.like(thumbnail, { format: 'jpeg', width: 225, height: 150, exif: undefined })
  t.is(run.previews?.[0]?.contentType, 'image/jpeg')
  t.is(run.thumbnail?.contentType, 'image/jpeg')
})

test('preview and thumbnail keep transparency', async t => {
  const run = await runExtractor(t, extract, testFile('picture.png'), png)
  t.like(await sharp(await run.thumbnailBytes()).metadata(), { format: 'png', width: 225, height: 150, hasAlpha: true })
  t.is(run.previews?.[0]?.contentType, 'image/png')
})

test('a photo taken sideways is rendered upright, and its width and height are those of the upright image', async t => {
  const sideways = await sharp(testFile('photo.jpg')).withMetadata({ orientation: 6 }).toBuffer()
  const run = await runExtractor(t, extract, await temporaryFile(t, 'sideways.jpg', sideways), jpeg)
  t.like(run.metadata, { width: 427, height: 640, orientation: 6 })
  t.like(await sharp(await run.thumbnailBytes()).metadata(), { width: 150, height: 225 })
})

test('a large image is scaled down to 1024 pixels', async t => {
  const large = await sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#336699' } })
    .webp()
    .toBuffer()
  const run = await runExtractor(t, extract, await temporaryFile(t, 'large.webp', large), { contentType: 'image/webp' })
  t.like(run.metadata, { format: 'webp', width: 3000, height: 1500 })
  t.like(await sharp(await run.preview(0)).metadata(), { width: 1024, height: 512 })
})

test('southern latitudes and western longitudes are negative', async t => {
  const gps = {
    GPSLatitudeRef: 'S',
    GPSLatitude: '33/1 30/1 0/1',
    GPSLongitudeRef: 'W',
    GPSLongitude: '70/1 15/1 0/1',
    GPSAltitude: '12/1',
  }
  const bytes = await sharp(testFile('picture.png')).jpeg().withExif({ IFD3: gps }).toBuffer()
  const { metadata } = await runExtractor(t, extract, await temporaryFile(t, 'south.jpg', bytes), jpeg)
  t.deepEqual(metadata?.location, { latitude: -33.5, longitude: -70.25, altitude: 12 })
})

test('an altitude below sea level is negative', async t => {
  const bytes = await readFile(testFile('photo.jpg'))
  const reference = bytes.indexOf(Buffer.from('050001000100000000', 'hex'))
  bytes.writeUInt8(1, reference + 8)
  const { metadata } = await runExtractor(t, extract, await temporaryFile(t, 'below.jpg', bytes), jpeg)
  t.deepEqual(metadata?.location, { latitude: 50.73, longitude: 7.09, altitude: -60 })
})

test('the contrast of a dark 16-bit greyscale image is stretched', async t => {
  const dark = new Uint16Array(64 * 64).map((_, at) => (at % 64) * 16)
  const bytes = await sharp(dark, { raw: { width: 64, height: 64, channels: 1 } })
    .toColourspace('grey16')
    .png()
    .toBuffer()
  const run = await runExtractor(t, extract, await temporaryFile(t, 'dark.png', bytes), png)
  t.is(run.metadata?.bitsPerChannel, 16)
  const [grey] = (await sharp(await run.preview(0)).stats()).channels
  t.true((grey?.min ?? 9) <= 2 && (grey?.max ?? 0) >= 253)
})

test('the contrast of a TIFF of floats is stretched, and gaps are black', async t => {
  const values = new Float32Array(64 * 64).map((_, at) => (at % 64 === 9 ? Number.NaN : -100 + (at % 64) * 50.5))
  const run = await runExtractor(t, extract, await temporaryFile(t, 'measured.tif', floatTiff(64, values)), { contentType: 'image/tiff' })
  t.like(run.metadata, { format: 'tiff', bitsPerChannel: 32, channels: 1 })
  const { data } = await sharp(await run.preview(0))
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true })
  t.true((data[63] ?? 0) > 250 && (data[9] ?? 255) < 40 && Math.abs((data[32] ?? 0) - 130) < 12)
})

test('a TIFF gets a preview', async t => {
  const bytes = await sharp(testFile('photo.jpg'))
    .withExif({ IFD0: { Make: 'Pounce' } })
    .tiff()
    .toBuffer()
  const run = await runExtractor(t, extract, await temporaryFile(t, 'scan.tif', bytes), { contentType: 'image/tiff' })
  t.like(run.metadata, { format: 'tiff', width: 640, height: 427 })
  t.is(run.previews?.length, 1)
})

test('an image with damaged EXIF data still gets its size and a thumbnail', async t => {
  const bytes = await readFile(testFile('photo.jpg'))
  const at = bytes.indexOf('Exif\0\0', 0, 'latin1')
  bytes.fill(0xff, at + 14, at + 60)
  const run = await runExtractor(t, extract, await temporaryFile(t, 'damaged.jpg', bytes), jpeg)
  t.like(run.metadata, { width: 640, height: 427, location: undefined })
  t.truthy(run.thumbnail)
})

test('an SVG drawing is rendered', async t => {
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150"><rect width="300" height="150" fill="#ff0000"/></svg>'
  const run = await runExtractor(t, extract, await temporaryFile(t, 'drawing.svg', drawing), svg)
  t.like(run.metadata, { format: 'svg', width: 300, height: 150 })
  t.like(await sharp(await run.thumbnailBytes()).metadata(), { width: 225 })
})

for (const [name, contentType] of [
  ['drawing.svg', 'image/svg+xml'],
  ['pretends.png', 'image/png'],
] as const) {
  test(`references in an SVG are not followed: ${name}`, async t => {
    const folder = await temporaryFolder(t)
    await copyFile(testFile('photo.jpg'), join(folder, 'secret.jpg'))
    const image = '<image href="secret.jpg" width="100" height="100"/>'
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="#ff0000"/>${image}</svg>`
    const path = join(folder, name)
    await copyFile(await temporaryFile(t, name, drawing), path)
    const run = await runExtractor(t, extract, path, { contentType })
    const { channels } = await sharp(await run.preview(0))
      .removeAlpha()
      .stats()
    t.deepEqual(
      channels.map(channel => channel.min),
      [255, 0, 0],
    )
  })
}

const hostile: readonly (readonly [string, string, string | (() => Promise<Uint8Array>), RegExp])[] = [
  ['an empty file', 'image/png', '', /file is empty/],
  ['text declared as PNG', 'image/png', 'this is no picture at all', /cannot be read/],
  ['a truncated PNG', 'image/png', async () => (await readFile(testFile('picture.png'))).subarray(0, 9000), /damaged or truncated/],
  ['a truncated JPEG', 'image/jpeg', async () => (await readFile(testFile('photo.jpg'))).subarray(0, 6000), /damaged or truncated/],
  ['a PNG that claims 60,000 × 60,000 pixels', 'image/png', hugePng, /maximum of 100 million pixels/],
  [
    'an SVG that claims 60,000 × 60,000 pixels',
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="60000" height="60000"/>',
    /maximum of 100 million/,
  ],
  ['an SVG of nested entities', 'image/svg+xml', entityBomb(), /cannot be read/],
  [
    'an SVG nested 100,000 deep',
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${'<g>'.repeat(100_000)}`,
    /cannot be read/,
  ],
]

for (const [name, contentType, content, message] of hostile) {
  test(`${name} is rejected with a readable message`, async t => {
    const bytes = typeof content === 'string' ? content : await content()
    await t.throwsAsync(runExtractor(t, extract, await temporaryFile(t, 'hostile', bytes), { contentType }), { message })
  })
}

test('an unsupported image format is skipped', async t => {
  const run = await runExtractor(t, extract, await temporaryFile(t, 'old.bmp', 'BM not ours'), { contentType: 'image/bmp' })
  t.is(run.skipped, 'Images of type image/bmp cannot be read here.')
  t.is(run.metadata, undefined)
})

test('a large SVG is skipped', async t => {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg">${' '.repeat(6 << 20)}</svg>`
  const run = await runExtractor(t, extract, await temporaryFile(t, 'large.svg', drawing), svg)
  t.regex(run.skipped ?? '', /above 5 MiB/)
})

test('a compressed SVG is skipped', async t => {
  const run = await runExtractor(t, extract, await temporaryFile(t, 'packed.svgz', gzipSync('<svg/>')), svg)
  t.is(run.skipped, 'Compressed SVG drawings are not drawn.')
})

test('without sharp, the run reports what to install', async t => {
  const loaded = await loadSharp(() => Promise.reject(new Error("Cannot find package 'sharp'\nRequire stack")))
  t.deepEqual(loaded, {
    missing:
      'sharp is not installed, so images are neither read nor drawn. Install it with "npm install sharp". (Cannot find package \'sharp\')',
  })
})

function floatTiff(width: number, values: Float32Array): Buffer {
  const height = values.length / width
  const entries = [
    [256, 3, width],
    [257, 3, height],
    [258, 3, 32],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [277, 3, 1],
    [278, 3, height],
    [279, 4, values.byteLength],
    [339, 3, 3],
  ]
  const directory = Buffer.alloc(2 + entries.length * 12 + 4)
  directory.writeUInt16LE(entries.length)
  for (const [at, [tag = 0, type = 0, value = 0]] of entries.entries()) {
    directory.writeUInt16LE(tag, 2 + at * 12)
    directory.writeUInt16LE(type, 4 + at * 12)
    directory.writeUInt32LE(1, 6 + at * 12)
    directory.writeUInt32LE(value, 10 + at * 12)
  }
  const head = Buffer.from('II*\0\0\0\0\0', 'latin1')
  head.writeUInt32LE(8 + values.byteLength, 4)
  return Buffer.concat([head, new Uint8Array(values.buffer), directory])
}

async function hugePng(): Promise<Uint8Array> {
  const bytes = Buffer.from(await readFile(testFile('picture.png')))
  bytes.writeUInt32BE(60_000, 16)
  bytes.writeUInt32BE(60_000, 20)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
  return bytes
}

function entityBomb(): string {
  const entities = Array.from({ length: 9 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('')
  return `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e0 "${'x'.repeat(40)}">${entities}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e9;</text></svg>`
}
