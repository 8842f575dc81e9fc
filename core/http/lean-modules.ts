import { createRequire } from 'node:module'

/*
 * An ES import of node:http reads every member of it, and two of them, WebSocket and CloseEvent, load Node's whole fetch with HTTP/2 behind it:
 * 25 ms of a start and 13 MB that a server has no use for. The module itself is the same; only its ES wrapping is left out. The router's
 * ES build imports http in that way, its CommonJS build does not.
 */

export const http = process.getBuiltinModule('node:http')

export const { Router } = createRequire(import.meta.url)('@koa/router') as typeof import('@koa/router')
