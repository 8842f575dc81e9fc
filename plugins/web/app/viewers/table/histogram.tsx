/** A small histogram, described by the text beside it. */
export const Bars = ({ counts }: { readonly counts: readonly number[] }) => {
  const most = Math.max(1, ...counts)
  const width = 100 / counts.length
  return (
    <svg className="bars" viewBox="0 0 100 22" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      {counts.map((count, at) => {
        const height = count === 0 ? 0 : Math.max(1, (22 * count) / most)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: bars are identified by position
          <rect key={at} x={at * width} y={22 - height} width={Math.max(0.5, width - 0.8)} height={height} />
        )
      })}
    </svg>
  )
}
