/** A file of tests with its text. */
export interface TestFile {
  /** Relative to the repository, with slashes. */
  readonly path: string
  readonly text: string
}

/** Relative to the repository: the files that run in one process. */
export type TestProcess = readonly string[]

/** Their tests wait for the program more than they compute, so that they do not hold each other up, and most start it, which is what is to be saved. */
const sharedByPath = [
  /^core\/(?:cli|http|kernel|openapi|services)\//,
  /^core\/store-migration\//,
  /^examples\//,
  /^plugins\/(?:access|audit|auth|blobs\/(?:encrypted|s3)|documents\/mongodb|extractors|geo\/postgis|mail|net|previewers|resources|scan|transport|web)\//,
  /^(?:scripts|sdk)\//,
  /^test\/(?:access|api|clients|geostreams)\//,
  // The others walk over all routes, which is noted by file, or compute for long.
  /^test\/(?!bad|json|regular|wrong)[^/]+$/,
]
const aloneByPath = /kill|\.browser\.|\.live\./

/** What is of the whole process, or is measured of it; `In a process of its own` is for what does not show. */
const aloneByText =
  /\blater\(|\bmock\.|\.prototype\b|process\.env\[[^\]]+\] *=[^=]|(?:before|after)Each|[mM]emoryUsage|[cC]puUsage|support\/(?:slowness|stalls|child-server)|child_process|checkAnswers|globalThis|In a process of its own/

const maxFiles = 8
const maxCharacters = 64_000

const canShare = ({ path, text }: TestFile): boolean =>
  sharedByPath.some(one => one.test(path)) && !aloneByPath.test(path) && !aloneByText.test(text)

/** Neighbours together: they load the same modules. */
const shared = (files: readonly TestFile[]): TestProcess[] => {
  const processes: { readonly paths: string[]; characters: number }[] = []
  for (const { path, text } of files) {
    const last = processes.at(-1)
    if (last === undefined || last.paths.length === maxFiles || last.characters + text.length > maxCharacters) {
      processes.push({ paths: [path], characters: text.length })
    } else {
      last.paths.push(path)
      last.characters += text.length
    }
  }
  return processes.map(({ paths }) => paths)
}

/** One after the other, each list as evenly spread as the other. */
const mixed = <T>(some: readonly T[], others: readonly T[]): readonly T[] => {
  const placed = [some, others].flatMap(list => list.map((one, at) => ({ one, place: (at + 0.5) / list.length })))
  return placed.sort((one, other) => one.place - other.place).map(({ one }) => one)
}

/**
 * Which test files run together, in the order to start them. A process costs a second of CPU time before the first test of most files, so that only those
 * have one to themselves that need it. Many of these wait, for a browser or a server that they started, and take turns with those that compute.
 */
export const planProcesses = (files: readonly TestFile[]): readonly TestProcess[] => {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const alone = sorted.filter(file => !canShare(file)).map(({ path }) => [path])
  return mixed<TestProcess>(alone, shared(sorted.filter(canShare)))
}

/** What a process took, in CPU time. */
export interface ProcessTime {
  readonly files: TestProcess
  readonly ms: number
}

const maxShown = 10

/** What the whole run took and the processes that took most, a line each: `28.5 s test/kill.test.ts`. */
export const timesLines = (times: readonly ProcessTime[]): readonly string[] => {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const nameOf = ([first, ...others]: TestProcess): string => (others.length === 0 ? `${first}` : `${first} and ${others.length} more`)
  const slowest = times.toSorted((one, other) => other.ms - one.ms).slice(0, maxShown)
  const sum = times.reduce((total, { ms }) => total + ms, 0)
  return [`CPU time: ${seconds(sum)}, most of it in`, ...slowest.map(({ files, ms }) => `  ${seconds(ms)} ${nameOf(files)}`)]
}
