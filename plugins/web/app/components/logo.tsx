const places = [2, 9, 16]

/** Nine pricked dots. */
export const Logo = () => (
  <svg width="18" height="18" viewBox="0 0 18 18" fill="currentColor" aria-hidden="true" focusable="false">
    {places.flatMap(y => places.map(x => <circle key={`${x} ${y}`} cx={x} cy={y} r="2" />))}
  </svg>
)
