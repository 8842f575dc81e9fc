import type { Metadata, Sharp } from 'sharp'
import type { SharpModule } from './source.ts'

/** True of one-channel measurements of more than eight bits: few use the whole range, so most would come out black. */
export const needsStretching = (facts: Metadata): boolean => facts.channels === 1 && facts.depth !== 'uchar'

/** The sized image with its smallest value black and its largest white. Values that are not finite come out black. */
export async function stretchedGrey(sharp: SharpModule, sized: Sharp, facts: Metadata): Promise<Sharp> {
  const { data, info } = await sized.toColourspace(facts.space).raw({ depth: 'float' }).toBuffer({ resolveWithObject: true })
  const values = new Float32Array(data.buffer, data.byteOffset, info.width * info.height)
  let [least, most] = [Infinity, -Infinity]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    if (value < least) least = value
    if (value > most) most = value
  }
  const scale = most > least ? 255 / (most - least) : 0
  const grey = Uint8Array.from(values, value => (Number.isFinite(value) ? (value - least) * scale : 0))
  return sharp(grey, { raw: { width: info.width, height: info.height, channels: 1 } })
}
