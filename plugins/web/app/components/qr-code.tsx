import { encode } from 'uqr'

/** Edge length in CSS pixels. */
const edge = 200

/** A QR code of a text: dark on white in both themes, with the margin of four modules that scanners require. */
export const QrCode = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const { data, size } = encode(text, { border: 4 })
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg role="img" aria-label={label} width={edge} height={edge} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path d={modules.join('')} />
    </svg>
  )
}
