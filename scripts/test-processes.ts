/** A test file with its source. */
export interface TestFile {
  /** Relative to the repository, with slashes. */
  readonly path: string
  readonly text: string
}

/** The files that run in one process, relative to the repository. */
export type TestProcess = readonly string[]

/** Test files that mostly wait for the program, so that they do not block each other; most start it, a cost that sharing saves. */
const sharedByPath = [
  /^core\/(?:cli|http|kernel|openapi|services)\//,
  /^core\/store-migration\//,
  /^examples\//,
  /^plugins\/(?:access|audit|auth|blobs\/(?:encrypted|s3)|documents\/mongodb|extractors|geo\/postgis|mail|net|previewers|resources|scan|transport|web)\//,
  /^(?:scripts|sdk)\//,
  /^test\/(?:access|api|clients|geostreams)\//,
  // The others cover all routes, which is recorded per file, or are CPU-bound.
  /^test\/(?!bad|json|regular|wrong)[^/]+$/,
]
const aloneByPath = /kill|\.browser\.|\.live\./

/** Source text that depends on process-wide state or measures the process; a comment `@separate-process` marks other cases. */
const aloneByText =
  /\blater\(|\bmock\.|\.prototype\b|process\.env\[[^\]]+\] *=[^=]|(?:before|after)Each|[mM]emoryUsage|[cC]puUsage|support\/(?:slowness|stalls|child-server)|child_process|checkAnswers|globalThis|@separate-process\b/

const maxFiles = 8
const maxCharacters = 64_000

const canShare = ({ path, text }: TestFile): boolean =>
  sharedByPath.some(one => one.test(path)) && !aloneByPath.test(path) && !aloneByText.test(text)

/** Groups files of the same folder, because they load the same modules. */
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

/** Interleaves two lists evenly. */
const mixed = <T>(some: readonly T[], others: readonly T[]): readonly T[] => {
  const placed = [some, others].flatMap(list => list.map((one, at) => ({ one, place: (at + 0.5) / list.length })))
  return placed.sort((one, other) => one.place - other.place).map(({ one }) => one)
}

/**
 * Groups test files into processes, in the order in which to start them. For most files, a process costs a second of CPU time before its first test,
 * so only files that require it get their own. Many of these wait for a browser or a server, and are interleaved with CPU-bound ones.
 */
export const planProcesses = (files: readonly TestFile[]): readonly TestProcess[] => {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const alone = sorted.filter(file => !canShare(file)).map(({ path }) => [path])
  return mixed<TestProcess>(alone, shared(sorted.filter(canShare)))
}

/** The CPU time of a process. */
export interface ProcessTime {
  readonly files: TestProcess
  readonly ms: number
}

const maxShown = 10

/** The CPU time of the whole run and of the most expensive processes, one line each: `28.5 s test/kill.test.ts`. */
export const timesLines = (times: readonly ProcessTime[]): readonly string[] => {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const nameOf = ([first, ...others]: TestProcess): string => (others.length === 0 ? `${first}` : `${first} and ${others.length} more`)
  const slowest = times.toSorted((one, other) => other.ms - one.ms).slice(0, maxShown)
  const sum = times.reduce((total, { ms }) => total + ms, 0)
  return [`CPU time: ${seconds(sum)}, most of it in`, ...slowest.map(({ files, ms }) => `  ${seconds(ms)} ${nameOf(files)}`)]
}
