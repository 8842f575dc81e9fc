/** A refusal to load a model, with a message for the user. */
export class Refusal extends Error {}
