"""Shares of a dataset's budget: how, and when, the budget pays for them. Proof: docs/how-to/ledger.md."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ..base.doors import spelling
from ..errors import Exhausted, InvalidArgument
from ..privacy.sensitivity import one_record, plain_unit
from ..privacy.wording import relation
from .budget import Amount, Budget, ShareRule


def check_share(share: Budget, whole: Budget) -> None:
    """Raise unless a share is of the kind of its dataset's budget: one sum must bound them all.

    Raises:
        InvalidArgument: if its units, its neighboring relation, its privacy unit or the use of its delta differ.
    """
    if share.unit != whole.unit:
        fix = spelling(privacy_unit=plain_unit(whole.unit)) if whole.unit else "no privacy_unit"
        raise InvalidArgument(
            f"the budget of {whole.name} protects {one_record(whole.unit)}, so a share of it takes "
            f"{fix}"
        )
    if _shared_terms(share) not in (_shared_terms(whole), _terms_without_delta(whole)):
        raise InvalidArgument(
            f"the budget of {whole.name} is in {_kind_in_words(whole)}, so a share of it is too, "
            f"got {_kind_in_words(share)}"
        )


def with_share(whole: Budget, share: Budget) -> Budget:
    """Return a dataset's budget after one of its shares was opened.

    Raises:
        Exhausted: if it cannot pay for the share.
    """
    if whole.shares != "reserved":
        return whole
    return _reserve(whole, share.counted_total, share)


def with_changed_share(whole: Budget, before: Budget, after: Budget) -> Budget:
    """Return a dataset's budget after the total of a share has grown, which it pays, or shrunk, which returns.

    Raises:
        Exhausted: if it cannot pay for the difference.
    """
    if whole.shares != "reserved":
        return whole
    difference = _minus(after.counted_total, before.counted_total)
    return _reserve(whole, difference, after)


def shrink(share: Budget, total: Amount) -> Budget:
    """Return a share with a smaller total, of the same kind, and not below the amount spent.

    Raises:
        InvalidArgument: if the total is of another kind, larger, or smaller than the sum spent.
    """
    smaller = share.with_total(total)
    step = _minus(share.counted_total, smaller.counted_total)
    if not _is_positive(step) or not smaller.is_within:
        raise InvalidArgument(
            f"the share {share.name} is {share.total} with {share.spent} spent. It can only shrink "
            f"to less of the same, and not below what was spent, got {total}"
        )
    return smaller


def close(share: Budget) -> Budget:
    """Return a share with the amount spent as its total, in every unit that still bounds it.

    Raises:
        InvalidArgument: if nothing is left of it.
    """
    old, spent, counts = share.total, share.spent, share.counted_total
    total = Amount(
        old.epsilon if counts.epsilon is None else _lesser(old.epsilon, spent.epsilon),
        old.rho if counts.rho is None else _lesser(old.rho, spent.rho),
        spent.delta if share.delta_for == "questions" else old.delta,
    )
    if total == old:
        raise InvalidArgument(f"nothing is left of the share {share.name}")
    return shrink(share, total)


def _lesser(total: Fraction | None, spent: Fraction | None) -> Fraction | None:
    """Return the amount spent, or the total if that is less or no sum bounds it."""
    return total if total is None or spent is None else min(total, spent)


def with_rule(
    whole: Budget, shares: Iterable[Budget], direct: Amount, rule: ShareRule | None
) -> Budget:
    """Return a dataset's budget under another rule for its shares.

    Args:
        whole: the budget.
        shares: all its shares.
        direct: the sum of the charges to it without a share.
        rule: the rule from now on.

    Raises:
        InvalidArgument: if the shares cannot be reserved: one is of another kind, or they are more than it has.
    """
    if rule is None or rule == whole.shares:
        raise InvalidArgument(f"the shares of {whole.name} are {rule} already")
    all_shares = list(shares)
    for share in all_shares:
        check_share(share, replace(whole, shares=rule))
    costs = (
        share.counted_total if rule == "reserved" else _in_units_of(share.spent, share)
        for share in all_shares
    )
    spent = sum(costs, start=direct)
    after = replace(whole, spent=spent, shares=rule)
    if rule == "reserved" and not after.is_within:
        raise InvalidArgument(
            f"the shares of {whole.name} and its own charges add up to {spent}, more than "
            f"{whole.counted_total}: shrink or close shares, or extend the budget"
        )
    return after


def _reserve(whole: Budget, cost: Amount, share: Budget) -> Budget:
    """Return the budget after a share costs so much more, which may be negative."""
    if _units(cost) != _units(whole.counted_total):
        raise InvalidArgument(f"the budget of {whole.name} counts other units than {cost}")
    after = replace(whole, spent=whole.spent + cost)
    if _is_positive(cost) and not after.is_within:
        raise Exhausted(
            f"the budget of {whole.name} cannot pay {cost} for the share of {share.analyst}: a "
            f"share is paid for when it is opened, and {whole.remaining} is left. Shrink or close "
            f"another share, extend the budget, or open it with {spelling(oversubscribed=True)}",
            requested=cost,
            spent=whole.spent,
            remaining=whole.remaining,
        )
    return after


def _shared_terms(budget: Budget) -> tuple[object, ...]:
    """Return the terms that a share and its dataset's budget have in common."""
    return budget.kind, budget.delta_for, budget.neighbors, budget.unit


def _terms_without_delta(whole: Budget) -> tuple[object, ...] | None:
    """Return the terms of a share in epsilon alone: its charges a budget with a delta for questions adds up."""
    if whole.delta_for != "questions":
        return None
    return _shared_terms(replace(whole, total=Amount(whole.total.epsilon), delta_for=None))


def _kind_in_words(budget: Budget) -> str:
    use = f" for {budget.delta_for}" if budget.delta_for else ""
    return f"{budget.kind}{use} ({relation(budget.neighbors, budget.unit)})"


def _in_units_of(amount: Amount, budget: Budget) -> Amount:
    """Return an amount without the numbers that the budget does not count."""
    counts = budget.counted_total
    return Amount(
        None if counts.epsilon is None else amount.epsilon,
        None if counts.rho is None else amount.rho,
        amount.delta,
    )


def _units(amount: Amount) -> tuple[bool, bool]:
    """Return which of epsilon and rho an amount has."""
    return amount.epsilon is not None, amount.rho is not None


def _minus(ours: Amount, theirs: Amount) -> Amount:
    """Return the difference of amounts in the same units; unlike `-` it may be negative.

    Raises:
        InvalidArgument: if one has a unit that the other has not: the difference would lose it.
    """
    if _units(ours) != _units(theirs):
        raise InvalidArgument(f"{ours} and {theirs} are in different units")
    return Amount(
        _difference(ours.epsilon, theirs.epsilon), _difference(ours.rho, theirs.rho),
        ours.delta - theirs.delta,
    )  # fmt: skip


def _difference(ours: Fraction | None, theirs: Fraction | None) -> Fraction | None:
    return None if ours is None or theirs is None else ours - theirs


def _bounds_of_amount(amount: Amount) -> list[Fraction]:
    return [n for n in (amount.epsilon, amount.rho, amount.delta) if n is not None]


def _is_positive(amount: Amount) -> bool:
    """Return whether one number is above zero, and none below."""
    return any(n > 0 for n in _bounds_of_amount(amount)) and not _is_negative(amount)


def _is_negative(amount: Amount) -> bool:
    return any(n < 0 for n in _bounds_of_amount(amount))
