import { lstat, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import { ExtractorInfo } from '../model/extractor-info.ts'
import type { DerivedFile, Extractor, ExtractorOutput } from '../ports/extractor.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { type ExtractorCase, type ExtractorEnd, loadedBy, runExtractorApart } from './extractor-runs.ts'

/** A built-in extractor and files that it supports. */
export interface ExtractorSubject {
  readonly extractor: Extractor
  /** The `index.ts` of its plugin. */
  readonly manifest: URL
  /** At least one file that it processes without errors and without skipping it. */
  readonly samples: readonly [ExtractorCase, ...ExtractorCase[]]
}

const damagedCases = 60
/** CPU time limit for a small file, valid or not: far more than any extractor needs. */
const smallFileMs = 30_000
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(; ?[a-z]+=[A-Za-z0-9._"-]+)*$/
const mediaTypePattern = /^(\*|[^/.*\s]+)\/(\*|[^/*\s]+)$/

/** The contract of built-in Extractors. Titles start with the extractor's name, so that one test file may run it for several. */
export function extractorContract(runner: TestRunner, { extractor, manifest, samples }: ExtractorSubject): void {
  const test = contractTest(runner)
  const { name } = extractor.info

  test(`${name}: its extractor info is complete and names media types of two parts`, async t => {
    // Loaded on demand: most test processes import this module without running an extractor, and TypeBox has 677 modules.
    const { Errors } = await import('typebox/value')
    t.deepEqual(Errors(ExtractorInfo, extractor.info), [])
    t.regex(name, /^[a-z0-9][a-z0-9._-]*$/)
    t.regex(extractor.info.version, /^\d+\.\d+\.\d+/)
    t.true(extractor.info.description.length > 20)
    const patterns = Object.values(extractor.info.process).flat()
    t.true(patterns.length > 0)
    t.deepEqual(
      patterns.filter(pattern => !mediaTypePattern.test(pattern)),
      [],
    )
    t.is(new Set(patterns).size, patterns.length)
  })

  test(`${name}: a run has limits`, t => {
    t.true(Number.isInteger(extractor.timeoutMs) && extractor.timeoutMs >= 1000 && extractor.timeoutMs <= 24 * 3_600_000)
    t.true(Number.isInteger(extractor.memoryMb) && extractor.memoryMb >= 64 && extractor.memoryMb <= 4096)
  })

  test(`${name}: its module exports the function`, async t => {
    t.is(typeof ((await import(extractor.module.href)) as { extract?: unknown }).extract, 'function')
  })

  test(`${name}: loading the plugin loads neither the function nor a library`, async t => {
    const { packages, files } = await loadedBy(manifest)
    t.deepEqual(packages, [])
    t.true(files.includes(manifest.href))
    t.false(files.includes(extractor.module.href))
  })

  test(`${name}: its samples give metadata with plain keys, the same each time, and files that exist`, async t => {
    const ends = await runAll(t, extractor, [...samples, samples[0]])
    for (const [at, end] of ends.entries()) {
      t.is(end.thrown, undefined)
      t.is(end.output?.skipped, undefined)
      t.true(end.isPlainJson, samples[at]?.path)
      t.deepEqual(
        keysOf(end.output?.metadata).filter(key => !/^[A-Za-z][A-Za-z0-9]*$/.test(key)),
        [],
      )
      t.deepEqual(await faultsOf(end), [])
    }
    t.deepEqual(ends.at(-1)?.output?.metadata, ends[0]?.output?.metadata)
    t.deepEqual(ends.at(-1)?.output?.tags, ends[0]?.output?.tags)
  })

  test(`${name}: empty, foreign and damaged files quickly end in a result or a readable error`, async t => {
    const folder = await temporaryFolder(t)
    const cases = await hostileCases(folder, samples[0])
    const ends = await runAll(t, extractor, cases)
    t.is(ends.length, cases.length)
    for (const [at, end] of ends.entries()) {
      const about = `${basename(cases[at]?.path ?? '')}: ${end.thrown ?? 'a result'}`
      t.true(end.cpuMs < smallFileMs, about)
      if (end.output) t.deepEqual([end.isPlainJson, await faultsOf(end)], [true, []], about)
      else t.true(end.isError && isForPeople(end.thrown ?? '', [folder, end.outputFolder]), about)
    }
  })
}

/** Whether a message is readable text without paths of this machine. */
const isForPeople = (message: string, paths: readonly string[]): boolean =>
  /^\p{Lu}.{15,}/su.test(message) && !paths.some(path => message.includes(path))

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pounce-extractor-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const runAll = async (t: TestContext, extractor: Extractor, cases: readonly ExtractorCase[]): Promise<readonly ExtractorEnd[]> =>
  runExtractorApart(extractor, cases, { folder: await temporaryFolder(t), limitMs: 150_000 })

async function hostileCases(folder: string, { path, contentType }: ExtractorCase): Promise<readonly ExtractorCase[]> {
  const { default: fc } = await import('fast-check')
  const original = await readFile(path)
  const changes = fc.array(fc.tuple(fc.nat(Math.max(0, original.length - 1)), fc.nat(255)), { maxLength: 6 })
  const damaged = fc.tuple(changes, fc.option(fc.nat(original.length), { freq: 6 })).map(([changed, length]) => {
    const bytes = Buffer.from(original)
    for (const [at, value] of changed) bytes.fill(value, at, at + 1)
    return bytes.subarray(0, length ?? bytes.length)
  })
  const noise = Buffer.from(fc.sample(fc.uint8Array({ minLength: 5000, maxLength: 5000 }), { numRuns: 1, seed: 7 })[0] ?? [])
  const files: readonly (readonly [string, Uint8Array])[] = [
    ['empty', Buffer.alloc(0)],
    ['one zero', Buffer.alloc(1)],
    ['zeros', Buffer.alloc(100_000)],
    ['noise', noise],
    ['words', Buffer.from('This is neither here nor there.\n'.repeat(50))],
    ['one long line', Buffer.alloc(300_000, 'x,"<')],
    ['beginning', original.subarray(0, 16)],
    ['beginning and noise', Buffer.concat([original.subarray(0, 200), noise])],
    ['twice', Buffer.concat([original, original])],
    ...fc.sample(damaged, { numRuns: damagedCases, seed: 20_260_314 }).map((bytes, at) => [`damaged ${at}`, bytes] as const),
  ]
  const cases = files.map(async ([name, bytes]) => {
    await writeFile(join(folder, name), bytes)
    return { path: join(folder, name), contentType }
  })
  const odd = { page: '../../etc/passwd', limit: -1, size: 1e308, constructor: null, list: [[[{}]]] }
  return [
    ...(await Promise.all(cases)),
    { path, contentType, filename: '../..\\\u202egnp.<b>\u0000.exe', parameters: odd },
    { path, contentType: 'no/such-type; charset=martian' },
  ]
}

/** Problems with the files and tags in the output of a run. */
async function faultsOf({ output, outputFolder }: ExtractorEnd): Promise<readonly string[]> {
  const { previews = [], thumbnail, tags = [], skipped } = output as ExtractorOutput
  const faults: string[] = []
  if (previews.length > 20) faults.push(`${previews.length} previews`)
  if (thumbnail && !/^image\/(jpeg|png|webp)$/.test(thumbnail.contentType)) faults.push(`a thumbnail of type ${thumbnail.contentType}`)
  if (tags.some(tag => !/^[^\p{Cc}]{1,100}$/u.test(tag))) faults.push('a tag that is none')
  if (skipped !== undefined && skipped.length < 10) faults.push(`skipped without a reason: ${skipped}`)
  for (const file of thumbnail ? [...previews, thumbnail] : previews) faults.push(...(await faultsOfFile(file, outputFolder)))
  return faults
}

async function faultsOfFile({ path, contentType, title }: DerivedFile, folder: string): Promise<readonly string[]> {
  const full = resolve(folder, path)
  if (isAbsolute(path) || !full.startsWith(folder + sep)) return [`${path} is outside the output folder`]
  const stats = await lstat(full).catch(() => undefined)
  if (!stats?.isFile() || (await realpath(full)) !== full) return [`${path} was not written as a regular file`]
  return [
    ...(stats.size === 0 ? [`${path} is empty`] : []),
    ...(mediaType.test(contentType) ? [] : [`${path} is of type ${contentType}`]),
    ...(title === undefined || title.length > 0 ? [] : [`${path} has an empty title`]),
  ]
}

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)])
}
