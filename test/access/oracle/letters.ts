/** `closed`: private, and readings are not for everyone either (`makeGeostreamsPublicReadable` off). */
export type Mode = 'public' | 'private' | 'closed'

/**
 * y: done, or refused for what was sent, never for who sent it. b: whatever. n: 403. u: 404, and the answer is that for an id that no one has. a: 401.
 * v: 401 or 404, the same as for an id that no one has. f: 409, for it lies in the trash. t: 403 because of the terms. x: refused, with whatever 4xx.
 */
export type Letter = 'y' | 'b' | 'n' | 'u' | 'a' | 'v' | 'f' | 't' | 'x'
