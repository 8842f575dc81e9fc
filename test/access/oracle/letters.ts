/** `closed`: private, and geostreams are not public either (`makeGeostreamsPublicReadable` off). */
export type Mode = 'public' | 'private' | 'closed'

/**
 * y: succeeds, or refused because of its content, never because of its caller. b: either. n: 403. u: 404, with the same response as for an unknown id.
 * a: 401. v: 401 or 404, with the same response as for an unknown id. f: 409, because it is in the trash. t: 403 because of the terms. x: refused with
 * any 4xx.
 */
export type Letter = 'y' | 'b' | 'n' | 'u' | 'a' | 'v' | 'f' | 't' | 'x'
