import { readdir, readFile, writeFile } from 'node:fs/promises'

/** The resources used by a process and all its descendants. */
export interface ProcessUsage {
  readonly residentMb: number
  readonly processes: number
  readonly threads: number
}

const maxProcesses = 32
const maxThreads = 256
const maxListed = 1000

/** Memory, processes and threads of a process and its descendants; zero where the system does not report them. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const tree = await processTreeOf(pid)
  const all = await Promise.all(tree.map(each => readFile(`/proc/${each}/status`, 'latin1').catch(() => '')))
  let [residentKb, threads] = [0, 0]
  for (const status of all) {
    residentKb += numberIn(status, /^VmRSS:\s+(\d+) kB/m)
    threads += numberIn(status, /^Threads:\s+(\d+)/m)
  }
  return { residentMb: residentKb / 1024, processes: tree.length, threads }
}

/** Which limit a process exceeds, if any. */
export function excessOf({ residentMb, processes, threads }: ProcessUsage, maxResidentMb: number): string | undefined {
  if (residentMb > maxResidentMb) return `exceeded ${maxResidentMb} MiB of memory`
  if (processes > maxProcesses) return `started more than ${maxProcesses} processes`
  return threads > maxThreads ? `started more than ${maxThreads} threads` : undefined
}

/** When the machine runs out of memory, the extractor is killed first, not the server. Not every system supports this. */
export async function preferForKilling(pid: number): Promise<void> {
  const write = (each: number) => writeFile(`/proc/${each}/oom_score_adj`, '800').catch(() => undefined)
  await Promise.all((await processTreeOf(pid)).map(write))
}

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)

async function processTreeOf(first: number): Promise<readonly number[]> {
  if (process.platform !== 'linux') return []
  const found = [first]
  for (let at = 0; at < found.length && found.length < maxListed; ) {
    const generation = found.slice(at)
    at = found.length
    found.push(...(await Promise.all(generation.map(childrenOf))).flat())
  }
  return found
}

/** Each thread lists the children that it started itself. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const texts = threads.map(thread => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => ''))
  return (await Promise.all(texts)).flatMap(text => text.split(' ').filter(Boolean).map(Number))
}
