// What was typed in a conversation and not sent yet: kept in this tab of the browser until the server has taken it. What was pasted and
// what was attached stays that, so nothing of it counts as typed afterwards.

/** The place of a conversation's. */
export function unsent(id) {
  const place = `unsent ${id}`;
  return {
    read: () => {
      try { return JSON.parse(sessionStorage.getItem(place)); } catch { return null; }
    },
    /** All of it or, where there is too much, nothing: a text without what of it was pasted would be another one. */
    keep: (all) => {
      try {
        sessionStorage.removeItem(place);
        if (all) sessionStorage.setItem(place, JSON.stringify(all));
      } catch { /* The browser keeps nothing, or not as much. */ }
    },
  };
}
