import { createHash } from 'node:crypto'
import type { UserRecord } from 'pounce/sdk'

/** White text has a contrast of 4.5 and more on each of them. */
const colours = [
  ...['#a3262a', '#a8401a', '#85540f', '#6b5e00', '#4a6a12', '#1f7033', '#0f6e5c', '#0b6a7d'],
  ...['#1c6299', '#2f55b0', '#4a49b5', '#6540ab', '#7d3a9c', '#953385', '#a12c64', '#5c5c66'],
] as const
const nobody = '-15'

const firstLetter = (name: string): string => {
  const [letter = ''] = /[\p{L}\p{N}]/u.exec(name) ?? []
  return [...letter.toUpperCase()][0] ?? ''
}

/** Where this server draws somebody's picture. The address says all that the picture shows, and is made of the name alone. */
export const avatarPath = (user: Pick<UserRecord, 'firstName' | 'lastName'> | undefined): string => {
  const initials = user ? firstLetter(user.firstName) + firstLetter(user.lastName) : ''
  if (!user || initials === '') return `/api/avatars/${nobody}`
  const [colour = 0] = createHash('sha256').update(`${user.firstName}\n${user.lastName}`).digest()
  return `/api/avatars/${encodeURIComponent(initials)}-${colour % (colours.length - 1)}`
}

/** The picture at an address; undefined where there is none. */
export const drawAvatar = (picture: string): string | undefined => {
  const [, initials = '', number = ''] = /^([\p{L}\p{N}]{0,2})-(\d{1,2})$/u.exec(picture) ?? []
  const colour = number === '' ? undefined : colours[Number(number)]
  if (colour === undefined) return undefined
  // Letters and digits need no escaping; a silhouette stands for nobody in particular.
  const shape =
    initials === ''
      ? '<circle cx="64" cy="48" r="22" fill="#fff"/><path d="M20 128a44 40 0 0 1 88 0z" fill="#fff"/>'
      : `<text x="64" y="64" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="54" fill="#fff">${initials}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 128 128"><rect width="128" height="128" fill="${colour}"/>${shape}</svg>`
}
