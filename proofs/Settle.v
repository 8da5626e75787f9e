(* The whole draw in balls (`_settle_in_balls`): more bits and narrower balls, one stage after the other, until the
   search answers. The fraction of the words that have been answered with i tends to its share. *)

From Coq Require Import Reals Lra Lia ZArith.
From Discreet Require Import Sums Draw Share Locate.
Open Scope R_scope.

(* What the first stages answer, a stage having read `depth s` of the bits of the word m. *)
Fixpoint settle (n : nat) (depth : nat -> nat) (lo hi : nat -> nat -> Z) (stages m bits : nat)
  : option nat :=
  match stages with
  | O => None
  | S s =>
      match settle n depth lo hi s m bits with
      | Some i => Some i
      | None =>
          locate n (lo s) (hi s) (Z.of_nat (m / 2 ^ (bits - depth s))) (Z.of_nat (depth s))
      end
  end.

Definition is_answer (i : nat) (answer : option nat) : bool :=
  match answer with Some j => Nat.eqb j i | None => false end.

(* Of the words of `depth s` bits, those that stages 0, ..., s answer with i. *)
Definition answered (n : nat) (depth : nat -> nat) (lo hi : nat -> nat -> Z) (i s m : nat) : bool :=
  is_answer i (settle n depth lo hi (S s) m (depth s)).

Lemma known_prefix :
  forall m d bits v, (d <= bits)%nat -> known m bits v -> known (m / 2 ^ (bits - d)) d v.
Proof.
  intros m d bits v le [low high].
  set (e := (bits - d)%nat). set (q := (m / 2 ^ e)%nat).
  assert (some : (2 ^ e <> 0)%nat) by (apply Nat.pow_nonzero; lia).
  pose proof (Nat.div_mod m (2 ^ e) some) as split_m. fold q in split_m.
  pose proof (Nat.mod_upper_bound m (2 ^ e) some) as rest.
  assert (low_m : INR (2 ^ e * q) <= INR m) by (apply le_INR; lia).
  assert (high_m : INR (m + 1) <= INR (2 ^ e * (q + 1))) by (apply le_INR; lia).
  rewrite !mult_INR, !plus_INR, INR_power in *. cbn [INR] in high_m.
  assert (powers : 2 ^ bits = 2 ^ e * 2 ^ d).
  { rewrite <- pow_add. f_equal. lia. }
  pose proof (power_positive e) as e0. rewrite powers in *.
  split.
  - apply Rmult_le_reg_l with (2 ^ e); lra.
  - apply Rmult_lt_reg_l with (2 ^ e); lra.
Qed.

Theorem settle_sound :
  forall n w depth lo hi unit stages m bits v i,
    positive n w -> (0 < n)%nat ->
    (forall s, (s < stages)%nat -> (depth s <= bits)%nat /\ 0 < unit s /\
       encloses n w (real (unit s) (lo s)) (real (unit s) (hi s))) ->
    0 <= v < 1 -> known m bits v ->
    settle n depth lo hi stages m bits = Some i -> falls n w v i.
Proof.
  intros n w depth lo hi unit stages m bits v i pos some each v01 word.
  induction stages as [|s IH]; cbn [settle]; [discriminate|].
  destruct (settle n depth lo hi s m bits) as [j|] eqn:earlier.
  - intros answer. apply IH; [intros t less; apply each; lia|exact answer].
  - intros answer. destruct (each s ltac:(lia)) as [le [unit0 enc]].
    apply locate_sound with (lo := lo s) (hi := hi s) (unit := unit s)
      (m := (m / 2 ^ (bits - depth s))%nat) (k := depth s); try assumption.
    apply known_prefix; assumption.
Qed.

Theorem settle_share :
  forall n w i (depth : nat -> nat) (lo hi : nat -> nat -> Z) (unit r : nat -> R),
    positive n w -> (i < n)%nat ->
    (forall s t, (s <= t)%nat -> (depth s <= depth t)%nat) ->
    (forall K, exists s0, forall s, (s0 <= s)%nat -> (K <= depth s)%nat) ->
    (forall s, 0 < unit s /\ 0 <= r s /\
       encloses n w (real (unit s) (lo s)) (real (unit s) (hi s)) /\
       within n w (real (unit s) (lo s)) (real (unit s) (hi s)) (r s) /\
       increasing n (lo s) (hi s)) ->
    Un_cv r 0 ->
    (forall s, fraction (depth s) (answered n depth lo hi i s) <= w i / sum n w) /\
    Un_cv (fun s => fraction (depth s) (answered n depth lo hi i s)) (w i / sum n w).
Proof.
  intros n w i depth lo hi unit r pos lt deeper deep stage shrink.
  assert (each : forall s t, (t < S s)%nat -> (depth t <= depth s)%nat /\ 0 < unit t /\
            encloses n w (real (unit t) (lo t)) (real (unit t) (hi t))).
  { intros s t less. destruct (stage t) as [unit0 [_ [enc _]]].
    split; [apply deeper; lia|split; assumption]. }
  assert (snd : forall s, sound n w (depth s) i (answered n depth lo hi i s)).
  { intros s m below member v v01 word. unfold answered, is_answer in member.
    destruct (settle n depth lo hi (S s) m (depth s)) as [j|] eqn:answer; [|discriminate].
    apply Nat.eqb_eq in member. subst j.
    apply settle_sound with (depth := depth) (lo := lo) (hi := hi) (unit := unit)
      (stages := S s) (m := m) (bits := depth s); try assumption; [lia|apply each]. }
  split.
  - intros s. apply count_at_most; [exact pos|exact lt|apply snd].
  - apply share_converges with (lo := fun s => real (unit s) (lo s))
      (hi := fun s => real (unit s) (hi s)) (r := r); try assumption.
    + intros s. apply stage.
    + intros s. apply stage.
    + intros s m below certain.
      destruct (stage s) as [unit0 [r0 [enc [near inc]]]].
      unfold answered. cbn [settle].
      destruct (settle n depth lo hi s m (depth s)) as [j|] eqn:earlier; cbn [is_answer].
      * pose (v := INR m / 2 ^ depth s).
        pose proof (power_positive (depth s)) as power.
        assert (word : known m (depth s) v).
        { unfold known. replace (2 ^ depth s * v) with (INR m) by (unfold v; field; lra). lra. }
        pose proof (word_in_unit m (depth s) v below word) as v01.
        apply Nat.eqb_eq. apply falls_unique with (n := n) (w := w) (v := v); [exact pos| |].
        -- apply settle_sound with (depth := depth) (lo := lo) (hi := hi) (unit := unit)
             (stages := s) (m := m) (bits := depth s); try assumption; [lia|].
           intros t less. apply each. lia.
        -- apply certificate_sound with (lo := real (unit s) (lo s)) (hi := real (unit s) (hi s))
             (m := m) (k := depth s); assumption.
      * rewrite Nat.sub_diag, Nat.pow_0_r, Nat.div_1_r.
        rewrite (locate_complete n (lo s) (hi s) (unit s) m (depth s) i unit0 inc certain).
        apply Nat.eqb_refl.
Qed.
