import module, { registerHooks, syncBuiltinESMExports } from 'node:module'
import type { ExtractorNeeds } from 'pounce/sdk'

// What Node 24's permission model does not restrict: sockets, `node:sqlite` (it opens any file) and signals to other processes. This blocks
// them for JavaScript. It does not restrict native code: that is what the operating system's sandbox is for.

const networkModules = /^(net|tls|http|https|http2|dgram|dns|dns\/promises|quic|_http_\w+|_tls_\w+)$/
const forbiddenModules = /^(sqlite|cluster|inspector|inspector\/promises|repl|trace_events|v8)$/

const refusal = (what: string): Error & { readonly code: string } =>
  Object.assign(new Error(`An extractor may not use ${what}; declare it in Extractor.needs`), { code: 'ERR_ACCESS_DENIED' })

const refuse = (owner: object, name: string, what: string): void => {
  const value = (): never => {
    throw refusal(what)
  }
  // Throws where a property cannot be redefined, and the process does not start: better than one that is only partly restricted.
  if (Reflect.has(owner, name)) Object.defineProperty(owner, name, { value, writable: false, configurable: false })
}

/** Removes everything from this process that the extractor has not declared, before the extractor is loaded. Irreversible. */
export function lockDown({ network = false }: ExtractorNeeds): void {
  const check = (name: string): void => {
    const plain = name.replace(/^node:/, '')
    if (forbiddenModules.test(plain) || (!network && networkModules.test(plain))) throw refusal(`node:${plain}`)
  }
  registerHooks({
    resolve(name, context, next) {
      check(name)
      const found = next(name, context)
      check(found.url)
      return found
    },
  })
  const builtin = process.getBuiltinModule
  const checked = (name: string): unknown => {
    check(name)
    return builtin(name)
  }
  Object.defineProperty(process, 'getBuiltinModule', { value: checked, writable: false, configurable: false })
  // Hooks that are registered later run first, and could bypass these.
  for (const name of ['registerHooks', 'register']) refuse(module, name, `module.${name}`)
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', '_linkedBinding']) refuse(process, name, `process.${name}`)
  if (!network) for (const name of ['fetch', 'WebSocket', 'EventSource']) refuse(globalThis, name, name)
  syncBuiltinESMExports()
}
