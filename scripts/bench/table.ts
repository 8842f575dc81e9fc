/** One measurement: the workload, its subject, the result, and the comparison. */
export interface Row {
  readonly workload: string
  readonly subject: string
  /** The value with its unit. */
  readonly figure: string
  readonly ratio?: number
  /** The required minimum ratio, or maximum if `isCeiling`. */
  readonly goal?: number
  readonly isCeiling?: boolean
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

export const round = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2))

/** The median with the minimum and maximum of the rounds. */
export const spread = (values: readonly number[], unit: string): string =>
  `${round(median(values))} ${unit} [${round(Math.min(...values))} … ${round(Math.max(...values))}]`

const verdict = ({ ratio, goal, isCeiling }: Row): string => {
  if (ratio === undefined || goal === undefined) return ''
  const isReached = isCeiling ? ratio <= goal : ratio >= goal
  return `${isCeiling ? '≤' : '≥'} ${round(goal)}: ${isReached ? 'reached' : 'missed'}`
}

/** The rows as a Markdown table. */
export const toMarkdown = (rows: readonly Row[]): string =>
  [
    '| Workload | Subject | Median [least … most] | Compared | Goal |',
    '|---|---|---|---|---|',
    ...rows.map(
      row =>
        `| ${row.workload} | ${row.subject} | ${row.figure} | ${row.ratio === undefined ? '' : row.ratio.toFixed(2)} | ${verdict(row)} |`,
    ),
  ].join('\n')
