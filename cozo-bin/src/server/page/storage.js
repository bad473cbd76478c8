// What a browser keeps. It may refuse to: then nothing is kept, and the page works all the same.

function kept(storage) {
  return {
    /** The value kept under a name, or another. */
    read(name, otherwise) {
      try {
        return JSON.parse(storage().getItem(`cozo.${name}`)) ?? otherwise;
      } catch {
        return otherwise;
      }
    },
    /** Keeps a value; null forgets it. */
    write(name, value) {
      try {
        if (value === null) storage().removeItem(`cozo.${name}`);
        else storage().setItem(`cozo.${name}`, JSON.stringify(value));
      } catch {
        // Storage is full, or switched off.
      }
    },
  };
}

/** Kept for the next visit. */
export const local = kept(() => localStorage);

/** Kept until the tab is closed. */
export const session = kept(() => sessionStorage);
