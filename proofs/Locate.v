(* The search of `_locate_in_balls` in src/discreet/sampling/categorical.py, as a program: bisection, then one comparison.

   It is extracted to OCaml, and run against Python, numpy and the kernel (`make bridge`). *)

From Coq Require Import Reals Lra Lia ZArith Bool.
From Discreet Require Import Sums Draw Share.

(* ---- Bisection ---- *)

Fixpoint bisect (fuel : nat) (after : nat -> bool) (low high : nat) : nat :=
  match fuel with
  | O => low
  | S less =>
      if Nat.ltb low high then
        let middle := Nat.div2 (low + high) in
        if after middle then bisect less after (S middle) high
        else bisect less after low middle
      else low
  end.

(* Python's bisect_left over the ends 0, ..., high - 1, of which `after` may be known. *)
Definition bisect_left (after : nat -> bool) (high : nat) : nat := bisect high after 0 high.

Lemma middle_between : forall a b, (a < b)%nat -> (a <= Nat.div2 (a + b) < b)%nat.
Proof.
  intros a b lt. rewrite Nat.div2_div. split.
  - apply Nat.div_le_lower_bound; lia.
  - apply Nat.div_lt_upper_bound; lia.
Qed.

Lemma bisect_invariant :
  forall fuel after a b,
    (a <= b)%nat -> (b - a <= fuel)%nat ->
    let i := bisect fuel after a b in
    (a <= i <= b)%nat /\ (i = a \/ after (i - 1)%nat = true) /\ (i = b \/ after i = false).
Proof.
  induction fuel as [|fuel IH]; intros after a b le enough; cbn [bisect].
  - split; [lia|split; left; lia].
  - destruct (Nat.ltb_spec a b) as [lt|done].
    + pose proof (middle_between a b lt) as mid. set (c := Nat.div2 (a + b)) in *.
      destruct (after c) eqn:known_after.
      * destruct (IH after (S c) b ltac:(lia) ltac:(lia)) as [range [left right]].
        split; [lia|split; [right; idtac|exact right]].
        destruct left as [start|tested]; [|exact tested].
        rewrite start. replace (S c - 1)%nat with c by lia. exact known_after.
      * destruct (IH after a c ltac:(lia) ltac:(lia)) as [range [left right]].
        split; [lia|split; [exact left|]].
        right. destruct right as [stop|tested]; [rewrite stop; exact known_after|exact tested].
    + split; [lia|split; left; lia].
Qed.

(* Whatever the test, monotonic or not: the end before the index was tested, and is known to be passed. *)
Theorem bisect_sound :
  forall after high,
    let i := bisect_left after high in
    (i <= high)%nat /\ (i = 0%nat \/ after (i - 1)%nat = true) /\
    (i = high \/ after i = false).
Proof.
  intros after high. destruct (bisect_invariant high after 0 high ltac:(lia) ltac:(lia))
    as [range both]. split; [unfold bisect_left; lia|exact both].
Qed.

Theorem bisect_complete :
  forall after high i,
    (i <= high)%nat -> (forall j, (j < i)%nat -> after j = true) ->
    (forall j, (i <= j < high)%nat -> after j = false) ->
    bisect_left after high = i.
Proof.
  intros after high i le passed open.
  destruct (bisect_sound after high) as [range [left right]].
  set (found := bisect_left after high) in *.
  destruct (Nat.lt_trichotomy found i) as [less|[same|more]]; [|exact same|].
  - destruct right as [at_end|test]; [lia|]. rewrite (passed found less) in test. discriminate.
  - destruct left as [at_start|test]; [lia|].
    rewrite (open (found - 1)%nat ltac:(lia)) in test. discriminate.
Qed.

(* ---- The search, as Python does it: with comparisons of balls that are true only if they hold for all numbers ---- *)

Open Scope R_scope.

Theorem answer_sound :
  forall n w v m k (after before : nat -> bool),
    positive n w -> (0 < n)%nat -> 0 <= v < 1 -> known m k v ->
    (forall j, (j < n)%nat -> after j = true -> sum (S j) w * 2 ^ k <= INR m * sum n w) ->
    (forall j, (j < n)%nat -> before j = true -> (INR m + 1) * sum n w <= sum (S j) w * 2 ^ k) ->
    let i := bisect_left after (n - 1) in
    i = (n - 1)%nat \/ before i = true -> falls n w v i.
Proof.
  intros n w v m k after before pos some v01 word passed ahead i decided.
  destruct (bisect_sound after (n - 1)) as [range [left _]]. fold i in range, left.
  apply certificate_sound with (lo := fun j => sum j w) (hi := fun j => sum j w) (m := m) (k := k);
    try assumption.
  - intros j _. split; apply Rle_refl.
  - split; [lia|split].
    + destruct left as [first|test]; [left; exact first|].
      destruct (Nat.eq_dec i 0) as [first|later]; [left; exact first|right].
      specialize (passed (i - 1)%nat ltac:(lia) test).
      replace (S (i - 1)) with i in passed by lia. exact passed.
    + destruct decided as [last|test]; [left; lia|right]. apply ahead; [lia|exact test].
Qed.

(* ---- The reference: ends as integers, lo j <= S_j <= hi j, to any unit ---- *)

Open Scope Z_scope.

Definition is_after (n : nat) (lo hi : nat -> Z) (m : Z) (scale : Z) (j : nat) : bool :=
  hi (S j) * scale <=? m * lo n.

Definition locate (n : nat) (lo hi : nat -> Z) (m : Z) (k : Z) : option nat :=
  let scale := Z.shiftl 1 k in
  let i := bisect_left (is_after n lo hi m scale) (n - 1) in
  if Nat.eqb i (n - 1) || ((m + 1) * hi n <=? lo (S i) * scale) then Some i else None.

Open Scope R_scope.

Definition real (unit : R) (ends : nat -> Z) (j : nat) : R := unit * IZR (ends j).

Lemma scale_is : forall k, IZR (Z.shiftl 1 (Z.of_nat k)) = 2 ^ k.
Proof. intros k. rewrite Z.shiftl_1_l, <- pow_IZR. reflexivity. Qed.

Lemma units_cancel :
  forall unit a b c d, 0 < unit -> (a * b <= c * d)%Z ->
    unit * IZR a * IZR b <= IZR c * (unit * IZR d).
Proof.
  intros unit a b c d pos le. apply IZR_le in le. rewrite !mult_IZR in le.
  assert (unit * (IZR a * IZR b) <= unit * (IZR c * IZR d)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma units_return :
  forall unit a b c d, 0 < unit -> unit * IZR a * IZR b <= IZR c * (unit * IZR d) ->
    (a * b <= c * d)%Z.
Proof.
  intros unit a b c d pos le. apply le_IZR. rewrite !mult_IZR.
  apply Rmult_le_reg_l with unit; [exact pos|]. lra.
Qed.

Lemma locate_certifies :
  forall n lo hi unit m k i, (0 < n)%nat -> 0 < unit ->
    locate n lo hi (Z.of_nat m) (Z.of_nat k) = Some i ->
    certificate n (real unit lo) (real unit hi) m k i.
Proof.
  intros n lo hi unit m k i some pos. unfold locate.
  set (scale := Z.shiftl 1 (Z.of_nat k)).
  destruct (bisect_sound (is_after n lo hi (Z.of_nat m) scale) (n - 1)) as [range [left _]].
  set (j := bisect_left _ _) in *.
  destruct (Nat.eqb_spec j (n - 1)) as [last|inner]; cbn [orb].
  - intros answer. injection answer as <-. split; [lia|split; [|left; lia]].
    destruct left as [first|test]; [left; exact first|].
    destruct (Nat.eq_dec j 0) as [first|later]; [left; exact first|right].
    unfold is_after in test. apply Z.leb_le in test. replace (S (j - 1)) with j in test by lia.
    unfold real. rewrite <- scale_is, INR_IZR_INZ. apply units_cancel; assumption.
  - destruct (Z.leb_spec ((Z.of_nat m + 1) * hi n) (lo (S j) * scale)) as [ahead|]; [|discriminate].
    intros answer. injection answer as <-. split; [lia|split; [|right]].
    + destruct left as [first|test]; [left; exact first|].
      destruct (Nat.eq_dec j 0) as [first|later]; [left; exact first|right].
      unfold is_after in test. apply Z.leb_le in test. replace (S (j - 1)) with j in test by lia.
      unfold real. rewrite <- scale_is, INR_IZR_INZ. apply units_cancel; assumption.
    + unfold real. rewrite <- scale_is, INR_IZR_INZ. fold scale.
      assert (step : IZR (Z.of_nat m + 1) * (IZR (hi n)) <= IZR (lo (S j)) * IZR scale)
        by (rewrite <- !mult_IZR; apply IZR_le; exact ahead).
      rewrite plus_IZR in step.
      assert (unit * ((IZR (Z.of_nat m) + 1) * IZR (hi n))
              <= unit * (IZR (lo (S j)) * IZR scale)) by (apply Rmult_le_compat_l; lra).
      lra.
Qed.

Theorem locate_sound :
  forall n w lo hi unit v m k i,
    positive n w -> (0 < n)%nat -> 0 < unit ->
    encloses n w (real unit lo) (real unit hi) -> 0 <= v < 1 -> known m k v ->
    locate n lo hi (Z.of_nat m) (Z.of_nat k) = Some i -> falls n w v i.
Proof.
  intros n w lo hi unit v m k i pos some unit0 enc v01 word answer.
  apply certificate_sound with (lo := real unit lo) (hi := real unit hi) (m := m) (k := k);
    try assumption.
  apply locate_certifies; assumption.
Qed.

(* Upper ends that do not decrease, and intervals that are none the wrong way round. *)
Definition increasing (n : nat) (lo hi : nat -> Z) : Prop :=
  (forall j, (j <= n)%nat -> (lo j <= hi j)%Z) /\
  (forall j, (j < n)%nat -> (hi j <= hi (S j))%Z) /\ (0 < hi n)%Z.

Lemma upper_ends :
  forall n lo hi i j, increasing n lo hi -> (i <= j <= n)%nat -> (hi i <= hi j)%Z.
Proof.
  intros n lo hi i j [_ [step _]] between.
  replace j with (i + (j - i))%nat by lia.
  assert (within : (i + (j - i) <= n)%nat) by lia.
  induction (j - i)%nat as [|d IH]; [rewrite Nat.add_0_r; lia|].
  specialize (IH ltac:(lia)). specialize (step (i + d)%nat ltac:(lia)).
  rewrite Nat.add_succ_r. lia.
Qed.

Theorem locate_complete :
  forall n lo hi unit m k i,
    0 < unit -> increasing n lo hi ->
    certificate n (real unit lo) (real unit hi) m k i ->
    locate n lo hi (Z.of_nat m) (Z.of_nat k) = Some i.
Proof.
  intros n lo hi unit m k i unit0 inc [lt [after before]].
  pose proof inc as [order [_ top]].
  set (scale := Z.shiftl 1 (Z.of_nat k)).
  assert (scale0 : (0 < scale)%Z).
  { unfold scale. rewrite Z.shiftl_1_l. apply Z.pow_pos_nonneg; lia. }
  assert (passed : forall j, (j < i)%nat -> is_after n lo hi (Z.of_nat m) scale j = true).
  { intros j less. apply Z.leb_le. destruct after as [first|test]; [lia|].
    assert (tested : (hi i * scale <= Z.of_nat m * lo n)%Z).
    { apply units_return with unit; [exact unit0|].
      unfold real in test. rewrite <- scale_is, INR_IZR_INZ in test. fold scale in test. lra. }
    pose proof (upper_ends n lo hi (S j) i inc ltac:(lia)). nia. }
  assert (found : bisect_left (is_after n lo hi (Z.of_nat m) scale) (n - 1) = i).
  { apply bisect_complete; [lia|exact passed|].
    intros j [le less]. apply Z.leb_gt.
    destruct before as [last|test]; [lia|].
    assert (tested : ((Z.of_nat m + 1) * hi n <= lo (S i) * scale)%Z).
    { apply le_IZR. rewrite !mult_IZR, plus_IZR. apply Rmult_le_reg_l with unit; [exact unit0|].
      unfold real in test. rewrite <- scale_is, INR_IZR_INZ in test. fold scale in test. lra. }
    pose proof (upper_ends n lo hi (S i) (S j) inc ltac:(lia)).
    pose proof (order (S i) ltac:(lia)). pose proof (order n ltac:(lia)). nia. }
  unfold locate. fold scale. rewrite found.
  destruct (Nat.eqb_spec i (n - 1)) as [last|inner]; cbn [orb]; [reflexivity|].
  destruct before as [last|test]; [lia|].
  destruct (Z.leb_spec ((Z.of_nat m + 1) * hi n) (lo (S i) * scale)) as [|short]; [reflexivity|].
  exfalso. apply IZR_lt in short. rewrite !mult_IZR, plus_IZR in short.
  unfold real in test. rewrite <- scale_is, INR_IZR_INZ in test. fold scale in test.
  assert (unit * (IZR (lo (S i)) * IZR scale) < unit * ((IZR (Z.of_nat m) + 1) * IZR (hi n)))
    by (apply Rmult_lt_compat_l; lra).
  lra.
Qed.

(* Running sums of balls increase by themselves, if each sum encloses all sums of what it is made of. *)
Theorem running_sums_increase :
  forall n (lo hi below above : nat -> Z),
    (0 < n)%nat -> lo 0%nat = 0%Z -> hi 0%nat = 0%Z ->
    (forall j, (j < n)%nat -> (0 <= below j <= above j)%Z /\ (0 < above j)%Z) ->
    (forall j, (j < n)%nat ->
       (lo (S j) <= lo j + below j)%Z /\ (hi j + above j <= hi (S j))%Z) ->
    increasing n lo hi.
Proof.
  intros n lo hi below above some lo0 hi0 balls adds.
  assert (order : forall j, (j <= n)%nat -> (lo j <= hi j)%Z).
  { induction j as [|j IH]; intros le; [lia|].
    specialize (IH ltac:(lia)). specialize (balls j ltac:(lia)). specialize (adds j ltac:(lia)). lia. }
  assert (step : forall j, (j < n)%nat -> (hi j <= hi (S j))%Z).
  { intros j less. specialize (balls j less). specialize (adds j less). lia. }
  assert (up : forall j, (j <= n)%nat -> (0 <= hi j)%Z).
  { induction j as [|j IH]; intros le; [lia|]. specialize (IH ltac:(lia)).
    specialize (step j ltac:(lia)). lia. }
  split; [exact order|split; [exact step|]].
  destruct n as [|n]; [lia|]. specialize (balls n ltac:(lia)). specialize (adds n ltac:(lia)).
  specialize (up n ltac:(lia)). lia.
Qed.
