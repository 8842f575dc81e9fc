import sharp from 'sharp'

/** A JPEG of 640 × 427 pixels, a hill under a sky, with camera, date and location (Bonn) in its EXIF. */
export function photo(): Promise<Buffer> {
  return sharp(landscape(640, 427), { raw: { width: 640, height: 427, channels: 3 } })
    .withExif({
      IFD0: { Make: 'Pounce', Model: 'Test Camera 1', Copyright: 'CC0', ImageDescription: 'A hill near Bonn' },
      IFD2: {
        DateTimeOriginal: '2026:03:14 09:26:53',
        OffsetTimeOriginal: '+01:00',
        ExposureTime: '1/250',
        FNumber: '28/10',
        ISOSpeedRatings: '200',
        FocalLength: '35/1',
      },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '50/1 43/1 48/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '7/1 5/1 24/1',
        GPSAltitudeRef: '0',
        GPSAltitude: '60/1',
      },
    })
    .jpeg({ quality: 80 })
    .toBuffer()
}

/** A PNG of 300 × 200 pixels, a disc on a transparent background. */
export function picture(): Promise<Buffer> {
  const [width, height] = [300, 200]
  const pixels = Buffer.alloc(width * height * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const inside = Math.hypot(x - 150, y - 100) < 90
      pixels.set([40 + (x >> 1), 90, 200 - (y >> 1), inside ? 255 : 0], (y * width + x) * 4)
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

function landscape(width: number, height: number): Buffer {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const hill = height * (0.55 + 0.12 * Math.sin(x / 70) + 0.05 * Math.sin(x / 17))
      const grain = ((x * 73 + y * 151) % 13) - 6
      const colour = y < hill ? [120 + y / 4, 160 + y / 5, 220] : [60 + grain, 110 + (y - hill) / 4 + grain, 50 + grain]
      pixels.set(colour, (y * width + x) * 3)
    }
  }
  return pixels
}
