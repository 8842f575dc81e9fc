import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Strings that an expression may take long to match: a prefix, a repeated part, and a suffix that makes the match fail. */
export interface Pump {
  readonly prefix: string
  readonly pump: string
  readonly suffix: string
}

/** Characters of most classes that expressions distinguish. */
const palette = ' \t\n09aAfzZ_-+./\\"\'=;:,<>()[]{}&%@#$*?!|^~\u0000\u0007é漢ß\u2028😀'
const maxAtoms = 48
const maxPaired = 9
const maxRow = 6
const variants = [0, 1, 2, 3]

/** True without quantifiers and backreferences: no string makes such an expression slow. */
export const isPlain = (pattern: AST.Pattern): boolean =>
  !nodesOf(pattern).some(({ type }) => type === 'Quantifier' || type === 'Backreference')

export const patternOf = (source: string, flags: string): AST.Pattern =>
  new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u'), unicodeSets: flags.includes('v') })

/** Strings derived from the expression: its characters and matches of its parts, alone and in sequence. */
export const pumpsOf = (pattern: AST.Pattern, flags: string): readonly Pump[] => {
  const sampler = new Sampler(pattern, flags.replace(/[gymd]/g, ''))
  const found = new Map<string, Pump>()
  const add = (prefix: string, pump: string, suffixes: readonly string[]): void => {
    if (pump === '') return
    for (const suffix of suffixes) found.set(JSON.stringify([prefix, pump, suffix]), { prefix, pump, suffix })
  }
  const { atoms, outsider } = sampler
  const ends = ['', outsider, `\n${outsider}`]
  const prefixes = new Set([''])
  walk(pattern, sampler, { left: '', right: '' }, (prefix, pumps, right) => {
    prefixes.add(prefix)
    for (const pump of pumps) {
      add(prefix, pump, [...ends, right + outsider])
      add('', pump, ends)
    }
  })
  for (const prefix of prefixes) for (const atom of atoms) add(prefix, atom, ends)
  const paired = atoms.length <= maxPaired ? atoms : []
  for (const one of paired) for (const other of paired) if (one !== other) add('', one + other, ends)
  return [...found.values()]
}

interface Around {
  readonly left: string
  readonly right: string
}

type Emit = (prefix: string, pumps: readonly string[], right: string) => void

/** Emits each sequence of adjacent elements in each alternative, with matches of the elements before and after it. */
const walk = (node: AST.Pattern | AST.Element, sampler: Sampler, { left, right }: Around, emit: Emit): void => {
  if (node.type === 'Quantifier') {
    emit(left, sampler.samples(node.element), right)
    walk(node.element, sampler, { left, right }, emit)
    return
  }
  if (!('alternatives' in node)) return
  for (const { elements } of node.alternatives) {
    const text = (from: number, to: number): string =>
      elements
        .slice(from, to)
        .map(each => sampler.sample(each, 0))
        .join('')
    for (const [at, element] of elements.entries()) {
      const [before, after] = [left + text(0, at), text(at + 1, elements.length) + right]
      walk(element, sampler, { left: before, right: after }, emit)
      for (let end = at + 1; end <= Math.min(at + maxRow, elements.length); end++) {
        const row = elements.slice(at, end)
        const pumps = variants.map(variant => row.map(each => sampler.sample(each, variant)).join(''))
        emit(before, [...new Set(pumps)], text(end, elements.length) + right)
      }
    }
  }
}

type CharacterNode = AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass

const isCharacter = (node: AST.Node): node is CharacterNode =>
  node.type === 'Character' || node.type === 'CharacterClass' || node.type === 'CharacterSet' || node.type === 'ExpressionCharacterClass'

const childrenOf = (node: AST.Node): readonly AST.Node[] => {
  if (node.type === 'Quantifier') return [node.element]
  if ('alternatives' in node) return node.alternatives as readonly AST.Node[]
  if ('elements' in node && node.type === 'Alternative') return node.elements
  return []
}

const nodesOf = (node: AST.Node): readonly AST.Node[] => [node, ...childrenOf(node).flatMap(nodesOf)]

/** Every literal character, including the ends of ranges. */
const writtenIn = (raw: AST.Node): readonly string[] => {
  if (raw.type === 'Character') return [String.fromCodePoint(raw.value)]
  if (raw.type === 'CharacterClassRange') return [...writtenIn(raw.min), ...writtenIn(raw.max)]
  return raw.type === 'CharacterClass' ? raw.elements.flatMap(writtenIn) : []
}

/** Generates strings that parts of an expression match. */
class Sampler {
  /** One character of each class that the expression distinguishes. */
  readonly atoms: readonly string[]
  /** The character that the fewest parts match. */
  readonly outsider: string
  readonly #matching = new Map<string, readonly string[]>()

  constructor(pattern: AST.Pattern, flags: string) {
    const sets = nodesOf(pattern).filter(isCharacter)
    const characters = [...new Set([...sets.flatMap(writtenIn), ...palette])]
    const kinds = new Map<string, string>()
    const raws = [...new Set(sets.map(({ raw }) => raw))]
    const tests = raws.map(raw => ({ raw, test: new RegExp(`^(?:${raw})$`, flags) }))
    for (const character of characters) {
      const kind = tests.map(({ test }) => (test.test(character) ? '1' : '0')).join('')
      if (!kinds.has(kind)) kinds.set(kind, character)
    }
    const atoms = [...kinds.values()]
    for (const { raw, test } of tests)
      this.#matching.set(
        raw,
        atoms.filter(atom => test.test(atom)),
      )
    this.atoms = atoms.slice(0, maxAtoms)
    const matched = ([kind]: readonly [string, string]): number => kind.replaceAll('0', '').length
    this.outsider = [...kinds].toSorted((one, other) => matched(one) - matched(other))[0]?.[1] ?? '\u0000'
  }

  samples(node: AST.Element): readonly string[] {
    return [...new Set(variants.map(variant => this.sample(node, variant)))]
  }

  /** A string that the node alone matches; variants use other alternatives, characters and counts. */
  sample(node: AST.Node, variant: number): string {
    if (isCharacter(node)) {
      const matching = this.#matching.get(node.raw) ?? []
      return matching[variant % Math.max(1, matching.length)] ?? ''
    }
    if (node.type === 'Quantifier') {
      const wanted = [1, node.min, 2, 3][variant] ?? 1
      return this.sample(node.element, variant).repeat(Math.max(node.min, Math.min(wanted, node.max)))
    }
    if (node.type === 'Assertion' || !('alternatives' in node)) return ''
    const alternative = node.alternatives[variant % node.alternatives.length]
    return (alternative?.elements ?? []).map(each => this.sample(each, variant)).join('')
  }
}
