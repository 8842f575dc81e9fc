/** The names of a path's parameters, in order: `['id']` of `/api/files/:id`. */
export const parameterNames = (path: string): string[] => [...path.matchAll(/:([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? '')

/** A path in which parameters have no names, so that paths which would shadow each other look alike. */
export const shapeOf = (path: string): string => path.replaceAll(/:[A-Za-z0-9_]+\*/g, '*').replaceAll(/:[A-Za-z0-9_]+/g, ':')
