import { createRequire } from 'node:module'

/*
 * An ES import of node:http reads every member of it, and two of them, WebSocket and CloseEvent, load Node's whole fetch with HTTP/2 behind it:
 * 25 ms of a start and 13 MB that a server has no use for. The module itself is the same; only its ES wrapping is left out. The router's
 * ES build imports http in that way, its CommonJS build does not.
 */

export const http = process.getBuiltinModule('node:http')

const require = createRequire(import.meta.url)

export const loadRouter = (): typeof import('@koa/router').Router => (require('@koa/router') as typeof import('@koa/router')).Router

/** Sixty-three modules for the first request with something to check: a start does without them. */
export const loadAjv = (): typeof import('ajv') => require('ajv')

/** Likewise, for the first body of several parts. */
export const loadBusboy = (): typeof import('@fastify/busboy') => require('@fastify/busboy')
